"""An error that a call of the library raised, in words."""

from __future__ import annotations

import traceback
from pathlib import Path

_SUITE = "ellmer_conformance/runner/"


def with_place(error: BaseException) -> str:
    """Returns the exception, the line in the adapter's code, and the deepest line below it.

    Args:
        error: What the call raised.

    Examples:
        >>> with_place(ValueError("no"))
        'the call raised ValueError: no'
    """
    frames = [each for each in traceback.extract_tb(error.__traceback__) if _SUITE not in each.filename]
    sentence = f"the call raised {type(error).__name__}: {error}"
    if not frames:
        return sentence
    file = frames[0].filename
    own = [each for each in frames if each.filename == file][-1]
    lines = [f"  the adapter at {_place(own)}: {own.line}"]
    if frames[-1] is not own:
        lines.append(f"  raised at {_place(frames[-1])} in {frames[-1].name}(): {frames[-1].line}")
    return "\n".join([sentence, *lines])


def _place(frame: traceback.FrameSummary) -> str:
    return f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}"
