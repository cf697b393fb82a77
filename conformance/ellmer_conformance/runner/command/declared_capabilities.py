"""Reads a command's declaration: the command prints one line when it is started with a conversation without steps.

The line is `{"name": …, "capabilities": {"image_in_user": "refused", …}, "features": ["reload", …]}`. Without a
declaration, a command has the features of the first version of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ...adapters import Capabilities
from ...scenarios.case import Case, Mode

__all__ = ["FEATURES", "NOTHING", "Declared", "DeclaredWrongly", "declared"]

#: Optional capabilities of a command, beyond one conversation in text. Each enables cases.
FEATURES = {
    "conversations": "several conversations at once (`who` in its steps)",
    "cancel": "requests that are given up (`cancelled` in its steps)",
    "reload": "conversations that are saved and loaded (`reloaded` in its steps)",
}
#: Capabilities that open cases where they are declared: audio, data of a schema, what a caller may set for one turn.
_ASKED_FOR = {
    "audio_in_user",
    "structured",
    *["tool_choice", "stop_sequences", "json_mode", "model_override", "prompt_caching", "usage_limits"],
}
#: Capabilities that no command has, because a command cannot be asked for them.
_NOT_SAID = {"approval", "changed_prompt", "citations", "compaction", "uploads"}
_MODES: tuple[Mode, ...] = ("sync", "stream")
_NAMES = frozenset(field.name for field in fields(Capabilities)) - {"modes"}

#: The conversation that asks for it.
NOTHING = Case(script=(), steps=(), name="capabilities", title="Say what you can do.")


class DeclaredWrongly(ValueError):
    """A declaration cannot be read. The message gives the reason."""


@dataclass(frozen=True)
class Declared:
    """The declared features of a command."""

    capabilities: Capabilities = field(default_factory=lambda: Capabilities(modes=_MODES))
    features: frozenset[str] = frozenset()
    name: str = ""

    def why_not(self, case: Case) -> str:
        """Returns the reason why a case cannot be played by it, or `""`."""
        if beyond := sorted(case.needs & _NOT_SAID):
            return f"no message to a command says {', '.join(beyond)}"
        if missing := self.capabilities.refused(sorted(case.needs & _ASKED_FOR)):
            return f"the command does not declare {', '.join(missing)} in its `capabilities`"
        wanted = {
            "conversations": len(case.speakers) > 1,
            "cancel": any(ask.cancelled for ask in case.steps),
        }
        unable = [name for name, needed in wanted.items() if needed and name not in self.features]
        return f"the command does not declare {FEATURES[unable[0]]}" if unable else ""


def declared(stdout: str) -> Declared:
    """Returns the declaration in the output, if there is one. Raises DeclaredWrongly."""
    for line in stdout.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and {"capabilities", "features", "name"} & set(found):
            return _declared(found)
    return Declared()


def _declared(found: Mapping[str, Any]) -> Declared:
    told, features = ({} if found.get(k) is None else found[k] for k in ("capabilities", "features"))
    features = features or []
    if not isinstance(told, dict) or not isinstance(features, list):
        raise DeclaredWrongly("`capabilities` is an object, `features` a list")
    unknown = sorted({*told} - _NAMES) + sorted(set(map(str, features)) - set(FEATURES))
    if unknown:
        known = f"capabilities: {', '.join(sorted(_NAMES))}; features: {', '.join(FEATURES)}"
        raise DeclaredWrongly(f"unknown: {', '.join(unknown)}; the known names are {known}")
    wrong = sorted(name for name, value in told.items() if value not in {"native", "pointer", "refused"})
    if wrong:
        raise DeclaredWrongly(f"{', '.join(wrong)}: use native, pointer or refused")
    return Declared(Capabilities(modes=_MODES, **told), frozenset(features), str(found.get("name") or ""))
