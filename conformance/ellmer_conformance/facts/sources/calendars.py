"""The days of the providers: models that are shut down, betas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from importlib.resources import files

from ..cell import Cell, Evidence, cell_at


def retired() -> Iterator[Cell]:
    """Yields the days on which models are shut down. Until then, the cell `available` says yes."""
    from ...contract.changes.retired_models import SCHEDULES  # noqa: PLC0415 - the rules are slow to import
    from ...contract.readers import provider_of  # noqa: PLC0415 - the rules are slow to import

    for host, schedule in SCHEDULES.items():
        for day, names in schedule.days.items():
            gone = date.fromisoformat(day) <= date.today()  # noqa: DTZ011 - a provider's day has no time zone here
            for model in names.split():
                words = f"The table of the page has the day {day} for it."
                proof = Evidence("document", schedule.source, words, schedule.read.isoformat())
                place = ("*", provider_of(host), model)
                yield cell_at(
                    "available", place, "no" if gone else "yes", proof, **{"since" if gone else "until": day}
                )


def betas() -> Iterator[Cell]:
    """Yields Anthropic's beta features, by the name that a header has for each."""
    import tomllib  # noqa: PLC0415 - only this table is TOML

    text = files("ellmer_conformance.contract.rules.anthropic").joinpath("betas.toml").read_text("utf-8")
    told = tomllib.loads(text)
    for name, facts in told["beta"].items():
        words = facts.get("model") or ", ".join(facts.get("unlocks", ()))
        note = f"It needs no header any more: {words}" if facts.get("ended") else words
        day = "-".join(found.groups()) if (found := _DAY.search(name)) else ""
        listed = name not in told["unlisted"]
        proof = Evidence("document", told["list"] if listed else told["source"], name if listed else "", day)
        place = ("anthropic", "anthropic", "claude*")
        unread = "" if listed else f"No page that was opened lists {name}. "
        yield cell_at(
            f"beta:{name}", place, "yes" if listed else "unknown", proof, note=f"{unread}{note}".strip()
        )


_DAY = re.compile(r"-(20\d\d)-?(\d\d)-?(\d\d)$")
