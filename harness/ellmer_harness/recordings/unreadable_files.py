"""Errors of files that cannot be read."""

from __future__ import annotations

import json
import zlib
from binascii import Error as Base64Error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from ..errors import CassetteError

__all__ = ["Unreadable", "explained"]


class Unreadable(CassetteError):
    """A file cannot be read.

    Args:
        path: The file.
        problem: What is wrong with it, as a clause.

    Examples:
        >>> from ellmer_harness.recordings import find, Unreadable
        >>> try:
        ...     list(find(["nothing.yaml"]))
        ... except Unreadable as error:
        ...     print(error)
        nothing.yaml: there is no such file or folder
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


@contextmanager
def explained(path: Path, place: str = "it") -> Iterator[None]:
    """Turns any error during reading into `Unreadable`, with the place in the file."""
    try:
        yield
    except Unreadable:
        raise
    except (OSError, EOFError) as error:
        raise Unreadable(path, f"{place} cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        problem = f"{place} is not valid UTF-8: {error.reason} at byte {error.start}"
        raise Unreadable(path, problem) from error
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())[:200]
        raise Unreadable(path, f"{place} is damaged or truncated: {said}") from error
    except RecursionError as error:
        raise Unreadable(path, f"{place} is nested too deeply") from error
    except (CassetteError, Base64Error, zlib.error, AttributeError, TypeError, KeyError, ValueError) as error:
        problem = f"{place} looks like a recording, but is inconsistent: {error}"
        raise Unreadable(path, problem) from error
