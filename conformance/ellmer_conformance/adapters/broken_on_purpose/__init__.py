"""Adapters that are broken on purpose, one idea each: the suite must catch every one, by the rule it breaks.

Each is our own adapter with one method overridden (`base.py`). `BROKEN` has them by name; to see one caught:

    conformance run --against server --adapter ellmer_conformance.adapters.broken_on_purpose:BROKEN.drops_images
"""

from . import (
    errors,
    features,
    invented,
    lost_or_added_content,
    media,
    messages,
    network,
    replies,
    streams,
    tools,
)
from .base import BROKEN, BrokenAdapter
from .smallest_violations import Impostor, impostors

__all__ = [
    "BROKEN",
    "BrokenAdapter",
    "Impostor",
    "errors",
    "features",
    "impostors",
    "invented",
    "lost_or_added_content",
    "media",
    "messages",
    "network",
    "replies",
    "streams",
    "tools",
]
