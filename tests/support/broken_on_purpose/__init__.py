"""Adapters that are broken on purpose, each in one way. The suite must catch each of them by the rule that it breaks.

Each one is our own adapter with one overridden method (`base.py`). `BROKEN` has them by name. This command shows how
one is caught:

    conformance run --against server --adapter broken_on_purpose:BROKEN.drops_images
"""

from . import (
    errors,
    every_play,
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
    "every_play",
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
