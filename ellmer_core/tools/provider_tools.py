"""Tools that the provider runs itself. They are registered like other tools, and sent in the provider's own form.

Their calls and results are in the answer, as `ContentProviderCall` and `ContentProviderResult`, and are sent back
unchanged with the next request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ..contents.content import ToolDef
from ..errors import UsageError
from ..schemas.type_classes import TypeObject

__all__ = ["ToolBuiltIn", "tool_web_fetch", "tool_web_search"]

Json = Mapping[str, Any]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ToolBuiltIn(ToolDef):
    """A tool that the provider runs itself.

    Args:
        name: Name of the tool.
        forms: Its definition for each wire format that knows it, by the name of the format (`"openai-responses"`,
            `"anthropic"`, `"gemini"`, …). The definition is sent unchanged.
        description: Description for people. Default: `""`.

    Examples:
        >>> chat = chat_openai()
        >>> code = {"type": "code_interpreter", "container": {"type": "auto"}}
        >>> chat.register_tools([ToolBuiltIn("code_interpreter", {"openai-responses": code})])
    """

    forms: Mapping[str, Json] = field(default_factory=dict)

    def __init__(self, name: str, forms: Mapping[str, Json], description: str = "") -> None:
        super().__init__(_not_ours(name), name, description, TypeObject())
        object.__setattr__(self, "forms", {wire: dict(form) for wire, form in forms.items()})

    def __repr__(self) -> str:
        return f"<ToolBuiltIn {self.name} ({', '.join(self.forms)})>"

    def provided(self, wire: str) -> dict[str, Any]:
        """Returns the definition of the tool for a wire format.

        Args:
            wire: Name of the wire format.

        Raises:
            UsageError: The tool has no definition for this wire format.

        Examples:
            >>> ToolBuiltIn("search", {"anthropic": {"type": "web_search_20250305"}}).provided("anthropic")
            {'type': 'web_search_20250305'}
        """
        if wire not in self.forms:
            wires = ", ".join(self.forms) or "none"
            raise UsageError(
                f"The provider's tool `{self.name}`, with these options, exists for {wires}, not for {wire}."
            )
        return dict(self.forms[wire])


def tool_web_search(
    *,
    allowed_domains: Sequence[str] | None = None,
    blocked_domains: Sequence[str] | None = None,
    user_location: Json | None = None,
    max_uses: int | None = None,
) -> ToolBuiltIn:
    """Lets the model search the web, at OpenAI (Responses), Perplexity, Anthropic or Google.

    If the provider does not have an option, the request raises `UsageError`. Google has no
    options; OpenAI and Perplexity have no `blocked_domains` and no `max_uses`.

    Args:
        allowed_domains: The only domains in results; `None` (default) means all.
        blocked_domains: Domains that are not in results. Default: none.
        user_location: Where the user is: `city`, `region`, `country` (two letters) and `timezone`. Default: `None`, not
            sent.
        max_uses: Number of searches in one request. Default: `None`, no limit.

    Returns:
        The tool.

    Examples:
        >>> chat = chat_openai()
        >>> chat.register_tools([tool_web_search(user_location={"country": "FR"})])
    """
    place = {"type": "approximate", **user_location} if user_location else None
    anthropic = _given(
        type="web_search_20250305",
        name="web_search",
        allowed_domains=allowed_domains,
        blocked_domains=blocked_domains,
        max_uses=max_uses,
        user_location=place,
    )
    forms = {"anthropic": anthropic}
    if not (blocked_domains or max_uses):
        filters = {"allowed_domains": list(allowed_domains)} if allowed_domains else None
        forms["openai-responses"] = _given(type="web_search", filters=filters, user_location=place)
    if anthropic.keys() == {"type", "name"}:
        forms["gemini"] = {"googleSearch": {}}
    return ToolBuiltIn("web_search", forms, "Searches the web.")


def tool_web_fetch(
    *,
    allowed_domains: Sequence[str] | None = None,
    blocked_domains: Sequence[str] | None = None,
    max_uses: int | None = None,
    citations: bool = False,
) -> ToolBuiltIn:
    """Lets the model read web pages whose addresses are in the conversation, at Anthropic or Google.

    Google accepts none of the options; a request with one raises `UsageError`.

    Args:
        allowed_domains: The only domains that are read; `None` (default) means all.
        blocked_domains: Domains that are not read. Default: none.
        max_uses: Number of pages in one request. Default: `None`, no limit.
        citations: Whether answers cite the pages. Default: `False`.

    Returns:
        The tool.

    Examples:
        >>> chat = chat_anthropic()
        >>> chat.register_tools([tool_web_fetch(max_uses=3)])
    """
    anthropic = _given(
        type="web_fetch_20250910",
        name="web_fetch",
        allowed_domains=allowed_domains,
        blocked_domains=blocked_domains,
        max_uses=max_uses,
        citations={"enabled": True} if citations else None,
    )
    forms = {"anthropic": anthropic}
    if anthropic.keys() == {"type", "name"}:
        forms["gemini"] = {"urlContext": {}}
    return ToolBuiltIn("web_fetch", forms, "Fetches web pages.")


def _given(**fields: Any) -> dict[str, Any]:
    """Returns the given fields, with sequences as lists."""
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _not_ours(name: str) -> Any:
    def function(**_: Any) -> NoReturn:
        raise UsageError(f"`{name}` is run by the provider; it cannot be called from here.")

    function.__name__ = name
    return function
