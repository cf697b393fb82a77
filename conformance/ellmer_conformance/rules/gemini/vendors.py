"""Vertex AI: the same format, other words for some refusals, and no merging of contents (see `_turns.py`)."""

from __future__ import annotations

from ...rule import RuleBook
from ._book import book, refused

_SIGNATURES = "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"

VERTEX = book.extend(
    "vertex",
    without=["SCH-004"],  # its schemas take some of these keys, and which is not studied
    STO_010={"preview": True},
    IMG_006={"preview": True},
    REQ_020={"preview": True},
    TRM_003={"preview": False},
    REQ_013={
        "preview": False,
        "source": ("recorded refusal (gemini-2.5-pro)",),
        "refusal": refused(
            "Unable to submit request because it has a temperature value of {value} but the supported range is from "
            "0 (inclusive) to 2.0001 (exclusive). Update the value and try again."
        ),
    },
    THK_003={
        "source": ("https://github.com/GewoonJaap/gemini-cli-openai/issues/156",),
        "refusal": refused(
            "Unable to submit request because function call `{name}` in the {position}. content block is missing a "
            f"`thought_signature`. Learn more: {_SIGNATURES}"
        ),
    },
)


def dialect(vendor: str) -> RuleBook:
    """The rules at a vendor; of proxies nothing is known to be refused."""
    if vendor in {"", book.vendor}:
        return book
    return VERTEX if vendor == "vertex" else book.extend(vendor, only=[])
