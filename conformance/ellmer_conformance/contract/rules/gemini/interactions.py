"""Gemini's Interactions. No refusal is recorded, so only losses are judged."""

from __future__ import annotations

from ...readers.gemini_interactions import PROVIDER
from ...rulebook import RuleBook
from .. import common
from ._rulebook import envelope

__all__ = ["INTERACTIONS"]

INTERACTIONS = RuleBook("gemini", PROVIDER, envelope)
common.enter(INTERACTIONS)
