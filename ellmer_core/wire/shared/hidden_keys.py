"""Hides keys: no `repr()`, `vars()`, log or pickle of an object shows them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NoReturn, Self
from urllib.parse import unquote, urlsplit

__all__ = ["HiddenHeaders", "Key", "without_user"]


class _Unpickled:
    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("API keys are not pickled. Create the chat, or the wire, where it is used.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Key(_Unpickled):
    """A key. Calling it returns the key's value."""

    __slots__ = ("__key",)

    def __init__(self, key: str) -> None:
        self.__key = key

    def __call__(self) -> str:
        return self.__key

    def __repr__(self) -> str:
        return "<a key>"


class HiddenHeaders(_Unpickled, dict[str, str]):
    """Headers that show only their names."""

    def __repr__(self) -> str:
        return f"<headers: {', '.join(self) or 'none'}>"


def without_user(url: str, headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Returns a URL without `user:password@`, and equivalent headers. Without a user, both are unchanged."""
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:
        return url, headers
    if user is None and password is None:
        return url, headers
    pair = f"{unquote(user or '')}:{unquote(password or '')}".encode()
    basic = {"authorization": f"Basic {b64encode(pair).decode()}"}
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), {**basic, **headers}
