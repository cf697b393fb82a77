"""Adapters that are broken on purpose, one idea each: the suite must catch every one, by the rule it breaks.

Each is our own adapter with one method overridden (`creature.py`). `ZOO` has them by name; to see one caught:

    conformance run --against server --adapter ellmer_conformance.adapters.zoo:ZOO.drops_images
"""

from . import media, messages, replies, sockets, tools
from .creature import ZOO, Creature

__all__ = ["ZOO", "Creature", "media", "messages", "replies", "sockets", "tools"]
