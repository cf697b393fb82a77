"""The key of a chat: a given one, one from a function of the caller, or one from the environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..errors import UsageError
from ..wire.base import Wire
from ..wire.interfaces import Key
from ._environment import variable

__all__ = ["credentials_of"]


def credentials_of(
    wire: type[Wire], api_key: str | None, credentials: Callable[[], str] | None
) -> Callable[[], str] | None:
    """Returns a function that returns the key. It looks for a key at once, so that a chat without a key is not made."""
    if api_key is not None and credentials is not None:
        raise UsageError("Give api_key= or credentials=, not both.")
    if credentials is not None:
        if not callable(credentials):
            raise UsageError(
                "credentials= must be a function that returns the key. Pass the key itself as api_key=."
            )
        return partial(_key_of, credentials)
    if api_key is not None:
        return _given_key(wire, api_key)
    if not wire.key_vars or (wire.key_optional and not any(map(variable, wire.key_vars))):
        return None
    read = partial(_environment_key, wire.provider, wire.key_vars)
    read()
    return read


def _given_key(wire: type[Wire], api_key: str) -> Callable[[], str] | None:
    if not isinstance(api_key, str):
        raise UsageError(f"api_key= must be a string, not {type(api_key).__name__}.")
    if key := api_key.strip():
        return Key(key)
    if wire.key_vars and not wire.key_optional:
        raise UsageError(f"api_key= is blank, but {wire.provider} needs a key.")
    return None


def _key_of(credentials: Callable[[], Any]) -> Any:
    from ..transport.aws_signature import AwsKeys  # noqa: PLC0415 - chats do without it until they ask for the key

    key = credentials()
    if isinstance(key, str | AwsKeys):
        return key
    raise UsageError(
        f"credentials= is a function that returns the key, a string; it returned {type(key).__name__}."
    )


def _environment_key(provider: str, variables: Sequence[str]) -> str:
    for name in variables:
        if key := variable(name):
            return key
    raise UsageError(
        f"No key for {provider}: set the environment variable {' or '.join(variables)}, or give api_key=."
    )
