"""What can be said about a cassette when it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import CassetteError
from ..exchange.messages import Sent
from ..exchange.reply import Reply
from ..faults import Fault
from ..interception.virtual_clock import Clock
from ..secrets.redaction.headers_and_urls import Scrub
from ..store import Store
from .matching.request_key import Match
from .stale_recordings.age_policies import Policy

__all__ = ["MODES", "Mode", "Options", "Repeat", "chosen_mode", "set_default_mode"]

Mode = Literal["replay", "record", "rewrite", "append", "verify", "live"]
MODES: tuple[Mode, ...] = ("replay", "record", "rewrite", "append", "verify", "live")
_OF_VCRPY = {"once": "record", "new_episodes": "append", "none": "replay", "all": "rewrite"}
Repeat = Literal["error", "last", "cycle"]
Judge = Callable[[list[Sent]], list[str]]
_default: list[str | None] = [None]


def chosen_mode(mode: str | None) -> Mode:
    """The mode; where there is none, that of the pytest option, else of the environment variable CASSETTE_MODE, else
    `replay`. Raises `CassetteError` for one that there is not."""
    mode = mode or _default[0] or os.environ.get("CASSETTE_MODE") or "replay"
    for known in MODES:
        if known == mode:
            return known
    ours = _OF_VCRPY.get(mode)
    hint = f" ({mode!r} of vcrpy is {ours!r})" if ours else ""
    raise CassetteError(f"{mode!r} is not a cassette mode; the modes are {', '.join(MODES)}{hint}")


def set_default_mode(mode: str | None) -> str | None:
    """For the pytest plugin; gives the value before."""
    before, _default[0] = _default[0], mode
    return before


@dataclass(kw_only=True)
class Options:
    """The keyword arguments of `use_cassette`."""

    mode: Mode | None = None
    """`replay` never touches the network; `record` does if there is no cassette yet; `rewrite` records again and
    swaps the files when all went well; `append` replays and records what is new; `verify` replays, asks the real server beside it, and fails where its
    answers have other fields; `live` uses no cassette."""

    routes: Mapping[str, str] | None = None
    """Where requests really go while recording: `{"https://api.example.com": "http://127.0.0.1:8123/x"}`. The
    client and the cassette see the URL that the client asked for."""

    recorded_from: str = "live"
    """Who answers while recording. Anything but `live` is taken to be repeatable: no dates, times or versions
    are written, and a recording that the judge finds fault with is refused."""

    judge: Judge | None = None
    """Called with the requests of the run before a recording is saved; gives what is wrong with them."""

    store: Store | str | None = None
    """Where the cassette is shared with other machines: a folder, `redis://…`, `s3://…` (see `store`). None: what
    the environment variable CASSETTE_STORE says, `""`: nowhere."""

    root: Path | str = "."
    """The folder that a cassette's key in the store is relative to."""

    scrub: Scrub | None = None
    """What may be written, as a whole, in place of `secrets` and `keep_headers`."""

    secrets: Mapping[str, str] | None = None
    """`{"NAME": "value"}`: the value is `<NAME>` in the cassette, and taken for `<NAME>` when a request is
    looked up. Keys, tokens and passwords of the environment are treated so anyway."""

    not_secret: Sequence[str] = ()
    """Fingerprints of findings, as an error shows them, that are no secrets after all."""

    mask: bool = False
    """Whether secrets that are found while recording are replaced, where they are an error otherwise. A value that the
    server made up becomes `REDACTED_1`, also where a later request sends it back, and replays as itself; cookies keep
    their names."""

    keep_headers: Sequence[str] = ()
    """Patterns of header names to write beside the usual ones, of requests and answers."""

    match: Match = field(default_factory=Match)
    """What makes two requests the same."""

    normalize: Callable[[Sent], Sent] | None = None
    """Called with each request, scrubbed, before it is looked up or written: gives the request as it is to be kept, for
    what differs in every run (`lambda sent: replace(sent, body=…)`, of `dataclasses`)."""

    before_save: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    """Called with each new interaction before it is searched for secrets and written, as vcrpy has it, bodies as bytes:
    gives what is to be written, or None for nothing."""

    on_repeat: Repeat = "error"
    """What a request gets once all its recordings were played."""

    metadata: Mapping[str, Any] | None = None
    """Anything of yours to keep in the cassette's metadata."""

    blobs: Path | str | None = None
    """Folder of the media files; `blobs` beside the cassette by default. The cassette notes where it is."""

    faults: Sequence[Fault | tuple[Fault, ...]] = ()
    """What goes wrong, in this run, with the answers: see `faults`."""

    framing: str | Callable[[Reply], Reply] | None = None
    """How bodies are cut into chunks in this run: see `framing`."""

    delays: Literal["real", "virtual"] | None = None
    """Whether recorded gaps between chunks count: slept (`real`), on the virtual clock, or not at all."""

    virtual_sleep: Sequence[str] = ()
    """Modules whose `time.sleep`, `asyncio.sleep` and `anyio.sleep` go to the virtual clock (`tape.slept`)."""

    allow_unused: bool = False
    """Whether a run may leave recorded interactions unplayed."""

    allow_idle: bool = False
    """Whether a run may end without any request."""

    allow_hosts: Sequence[str] = ()
    """Hosts that requests and sockets reach as if there were no cassette (`("localhost",)`)."""

    accept_encoding: str | None = "identity"
    """What is asked for while recording, so that bodies arrive readable; None leaves the client's own header."""

    patchers: Sequence[str] = ()
    """vcrpy's patchers to switch on for other clients (`("urllib3",)`), with vcrpy's guarantees."""

    run: str = ""
    """What the tests of one run have in common. With it, `rewrite` of a cassette that several of them share replaces what
    was there before the run, and keeps what the others have recorded since."""

    rerecord: str | None = None
    """The command that records this cassette again, for error messages."""

    clock: Clock = field(default_factory=Clock)
    """What time it is, and the pauses that were not slept."""

    max_age: float | None = None
    """Days after which a recording counts as stale."""

    policies: Sequence[Policy] = ()
    """Further reasons to call a recording stale: from a `Recording` to a sentence, or None."""

    stale: Literal["ignore", "warn", "error"] | None = None
    """What becomes of a run whose recording is stale: nothing (only the verdict says so), a warning, or the error
    `Stale`. None: what the environment variable CASSETTE_STALE says, else `warn`."""
