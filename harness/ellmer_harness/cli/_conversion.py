"""Functions that `import` and `migrate` share."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import HarnessError, SecretFound
from ..format.blobs import file_name
from ..recordings import Found, Unreadable
from ..recordings.conversion import Converted, Rules, convert
from ..recordings.untrusted_files import TooSlow, time_limit, unreadable_on_error
from ..secrets.redaction import Scrub
from ._terminal import complain, counted, one_line, rewritten, say

_HINT = (
    "  --secret NAME=VALUE writes <NAME> in its place, as for keys in the environment. --mask writes REDACTED for "
    "every secret that is found. --accept FINGERPRINT declares that it is not a secret."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of both commands."""
    parser.add_argument(
        "--blobs",
        type=Path,
        metavar="DIR",
        help="folder for media files, shared by all cassettes (default: blobs, beside the cassettes)",
    )
    parser.add_argument(
        "--keep-header",
        action="append",
        default=[],
        metavar="NAME",
        help="also write this header (* ? and […] as in file names; credentials are never written; repeatable)",
    )
    parser.add_argument(
        "--secret",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="write <NAME> in place of VALUE; a replay with secrets={NAME: another value} matches it (repeatable)",
    )
    parser.add_argument(
        "--recorded-from",
        default="imported",
        metavar="WHO",
        help="the origin of the answers; use live if a real API answered (default: imported)",
    )
    parser.add_argument("--mask", action="store_true", help="replace every detected secret by REDACTED")
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FINGERPRINT",
        help="the fingerprint of a finding that is not a secret (repeatable)",
    )
    parser.add_argument(
        "--not-compared",
        action="append",
        default=[],
        choices=["body", "headers", "url"],
        help="a part of the requests that has changed since the recording; it is not compared until the cassette is recorded again (repeatable)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and write nothing")


def rules(options: argparse.Namespace) -> Rules:
    """Makes the rules from the options."""
    scrub = Scrub.of(dict(options.secret), options.keep_header)
    accepted, not_compared = tuple(options.accept), tuple(options.not_compared)
    return Rules(scrub, options.recorded_from, accepted, mask=options.mask, not_compared=not_compared)


def named(file: Path) -> str:
    """Returns the name under which the pytest plugin looks for a cassette: the test's name, with characters
    that every file system accepts.
    """
    return file_name(rewritten(file, "")) + ".json"


@dataclass
class Tally:
    """Counts the converted and the failed files."""

    done: int = 0
    interactions: int = 0
    unchanged: int = 0
    failed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def converted(
        self, file: Path, found: Found | Unreadable, near: Path, blobs: Path, rules: Rules
    ) -> Converted | None:
        """Returns the cassette, or None and an error message if it cannot be made."""
        try:
            if isinstance(found, Unreadable):
                raise found
            with time_limit(), unreadable_on_error(file):
                cassette = convert(found, near, blobs, rules)
        except TooSlow as error:
            self.refuse(f"{file}: {error}")
            return None
        except HarnessError as error:
            hint = f"\n{_HINT}" if isinstance(error, SecretFound) else ""
            self.refuse(str(error) if isinstance(error, Unreadable) else f"{file}: {error}{hint}")
            return None
        for note in cassette.notes:
            complain(one_line(f"{file}: {note}"))
        self.left_out += cassette.left_out
        self.interactions += cassette.interactions
        self.done += 1
        return cassette

    def refuse(self, why: str) -> None:
        """Reports a file that could not be converted, and counts it."""
        self.failed += 1
        complain(why)

    def report(self, what: str) -> int:
        """Prints the last lines and returns the exit code."""
        if self.left_out:
            most = ", ".join(f"{name} × {count}" for name, count in self.left_out.most_common(8))
            more = " …" * (len(self.left_out) > 8)
            say(f"headers not written (--keep-header NAME writes one): {most}{more}")
        unchanged, failed = f", {self.unchanged} unchanged", f", {self.failed} failed"
        say(
            f"{counted(self.done, 'recording')} {what}, {counted(self.interactions, 'interaction')}"
            + unchanged * bool(self.unchanged)
            + failed * bool(self.failed)
        )
        return 1 if self.failed else 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
