"""Gemini's Interactions: no refusal of it is on record, so that only what is lost is judged."""

from __future__ import annotations

from ...readers.gemini_interactions import VENDOR
from ...rulebook import RuleBook
from .. import common
from ._rulebook import envelope

__all__ = ["INTERACTIONS"]

INTERACTIONS = RuleBook("gemini", VENDOR, envelope)
common.enter(INTERACTIONS)
