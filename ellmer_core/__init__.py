"""Chat with language models and let them call tools, from Python, on plain httpx.

Everything public is imported from here, and loaded when it is first used: importing the package loads neither
httpx nor pydantic. `chat("vendor/model")` makes a chat; so does `chat_<vendor>()`, found as `chat_<vendor>` in
`providers/<vendor>.py`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

# ruff: noqa: F403, F405 - type checkers read what each module offers; `__all__` below says what is public here

if TYPE_CHECKING:
    from ._cancel import *
    from ._chat import *
    from ._clients import *
    from ._prices import *
    from ._sigv4 import *
    from ._vendors import *
    from .content import *
    from .errors import *
    from .media import *
    from .prompts import *
    from .record import *
    from .render import *
    from .tool_results import *
    from .tools import *
    from .turns import *
    from .types import *

__all__ = [
    "AssistantPartialTurn",
    "AssistantTurn",
    "AsyncToolError",
    "AuthenticationError",
    "AwsKeys",
    "BadRequestError",
    "Chat",
    "ConnectError",
    "Content",
    "ContentError",
    "ContentImage",
    "ContentImageInline",
    "ContentImageRemote",
    "ContentJson",
    "ContentPDF",
    "ContentText",
    "ContentThinking",
    "ContentToolRequest",
    "ContentToolResult",
    "ContentUnknown",
    "ContentUploaded",
    "ConversionError",
    "EllmerError",
    "EllmerWarning",
    "IncompleteResponseError",
    "ProviderError",
    "RateLimitError",
    "ResponseError",
    "ServerError",
    "StreamController",
    "SystemTurn",
    "TimeoutError",
    "Timeouts",
    "Tokens",
    "ToolDef",
    "ToolReject",
    "ToolResultError",
    "ToolRoundsError",
    "Turn",
    "Type",
    "TypeArray",
    "TypeBasic",
    "TypeEnum",
    "TypeJsonSchema",
    "TypeObject",
    "UsageError",
    "UserTurn",
    "chat",
    "check_tool_result",
    "content_image_file",
    "content_image_plot",
    "content_image_url",
    "content_pdf_file",
    "content_pdf_url",
    "contents_html",
    "contents_markdown",
    "contents_record",
    "contents_replay",
    "contents_text",
    "export",
    "interpolate",
    "interpolate_file",
    "params",
    "token_usage",
    "tool",
    "tool_annotations",
    "tool_reject",
    "type_array",
    "type_boolean",
    "type_enum",
    "type_from_schema",
    "type_integer",
    "type_number",
    "type_object",
    "type_string",
]

#: Where public names live; those that load the most come last.
_MODULES = (
    "content",
    "errors",
    "turns",
    "types",
    "tools",
    "tool_results",
    "prompts",
    "media",
    "record",
    "render",
    "_sigv4",
    "_cancel",
    "_clients",
    "_prices",
    "_chat",
    "_vendors",
)


def __getattr__(name: str) -> "Callable[..., Chat]":  # what is not listed above is a vendor's constructor
    if name in __all__:
        modules = (import_module(f".{module}", __name__) for module in _MODULES)
        found = next(module for module in modules if name in module.__all__)
    elif name in _constructors():
        found = import_module(f".providers.{name.removeprefix('chat_')}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: Callable[..., Chat] = getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_constructors(), *globals()})


def _constructors() -> list[str]:
    """`chat_openai` and so on, from the names of the files."""
    from pkgutil import iter_modules  # noqa: PLC0415 - takes as long as all the rest

    folder = import_module(".providers", __name__).__path__
    return [f"chat_{module.name}" for module in iter_modules(folder) if not module.name.startswith("_")]
