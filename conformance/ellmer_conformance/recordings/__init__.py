"""Existing recordings: lint, calibration with the verdicts of real APIs, replay of conversations, the public corpus.

The modules import `contract`, `baseline` and `report`. `conversation_replay` also imports the runner. The command line imports them.
"""

from __future__ import annotations

from pathlib import Path

import ellmer_harness
from ellmer_harness.bulk.journal import digest


def code_digest() -> str:
    """Returns a digest of everything that decides a verdict: the rules and the readers."""
    harness = Path(ellmer_harness.__file__).parent
    return digest(
        Path(__file__).parent.parent / "contract",
        Path(__file__).parent,
        harness / "recordings",
        harness / "format",
    )
