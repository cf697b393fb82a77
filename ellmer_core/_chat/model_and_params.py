"""The model of a chat, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..log import warn
from ..models.unsupported_parameters import Asked, fitted
from ..wire.base import Wire
from ..wire.interfaces import Profile

__all__ = ["ModelChoice"]


class ModelChoice:
    """The part of a `Chat` that has a model. The caller's parameters are kept, and each model gets those that it
    accepts.
    """

    def __init__(self, wire: Wire, thinking: Any, profile: Profile | Mapping[str, Any] | None) -> None:
        self._asked = Asked({**wire.params, **({} if thinking is None else {"thinking": thinking})}, profile)
        self.wire = _fitted(wire, self._asked)

    def get_model(self) -> str:
        """Returns the model's name."""
        return self.wire.model

    def set_model(self, model: str) -> None:
        """Continues with another model of the provider.

        Args:
            model: Name of the model.
        """
        if not isinstance(model, str) or not model:
            raise UsageError(f"The model must be a name, not {model!r}.")
        self.wire = _fitted(replace(self.wire, model=model), self._asked)

    @property
    def profile(self) -> Profile:
        """The profile of the model: what it accepts, as far as it is known, with the sources."""
        return self.wire.profile

    def get_params(self) -> dict[str, Any]:
        """Returns the parameters that were asked for, `thinking` among them; the model may take fewer."""
        return dict(self._asked.params)

    def set_params(self, params: Mapping[str, Any] | None = None, **words: Any) -> None:
        """Replaces the parameters of the chat: `set_params(params(temperature=0.2))` or `set_params(temperature=0.2)`.

        Args:
            params: The parameters; `None` (default) leaves those that are given by name.
            **words: Parameters by name, as in `params()`.
        """
        asked = Asked({**_checked(params), **words}, self._asked.profile)
        self.wire, self._asked = _fitted(self.wire, asked), asked

    def _wire_with(self, params: Mapping[str, Any]) -> Wire:
        """Returns the wire for one call, with parameters added to those of the chat."""
        return _fitted(self.wire, Asked({**self._asked.params, **_checked(params)}, self._asked.profile))


def _fitted(wire: Wire, asked: Asked) -> Wire:
    """Returns the wire with the parameters that the model accepts, and warns the caller of the others."""
    fit, warning = fitted(wire, asked)
    if warning:
        warn(warning)
    return fit


def _checked(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not isinstance(params, Mapping | None):
        raise UsageError(f"params= must be a dictionary, as params() makes one, not {params!r}.")
    return params or {}
