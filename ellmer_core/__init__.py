"""Chat with language models and let them call tools, from Python, on plain httpx.

Everything public is imported from here, and loaded when it is first used: importing the package loads neither
httpx nor pydantic. `chat("vendor/model")` makes a chat; so does `chat_<vendor>()`, found as `chat_<vendor>` in
`providers/<vendor>.py`. `models_<vendor>()` lists the models of any of them. (`_by_vendor.pyi` tells type checkers
which names there are; `python -m ellmer_core._vendors` writes it anew.)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# ruff: noqa: F403, F405 - type checkers read what each module offers; `__all__` below says what is public here

if TYPE_CHECKING:
    from ._batch import *
    from ._by_vendor import *
    from ._cancel import *
    from ._chat import *
    from ._clients import *
    from ._frames import *
    from ._parallel import *
    from ._prices import *
    from ._progress import *
    from ._sigv4 import *
    from ._vendors import *
    from .builtin_tools import *
    from .content import *
    from .errors import *
    from .live import *
    from .media import *
    from .prompts import *
    from .record import *
    from .render import *
    from .render.shinychat import *
    from .tool_results import *
    from .tool_writer import *
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
    "ToolBuiltIn",
    "ToolDef",
    "ToolReject",
    "ToolResultDisplay",
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
    "batch_chat",
    "batch_chat_completed",
    "batch_chat_structured",
    "batch_chat_text",
    "chat",
    "chat_app",
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
    "contents_shinychat",
    "contents_text",
    "create_tool_def",
    "df_schema",
    "export",
    "interpolate",
    "interpolate_file",
    "live_browser",
    "live_console",
    "local_shinychat",
    "parallel_chat",
    "parallel_chat_async",
    "parallel_chat_structured",
    "parallel_chat_structured_async",
    "parallel_chat_text",
    "parallel_chat_text_async",
    "params",
    "shinychat_stream",
    "token_usage",
    "tool",
    "tool_annotations",
    "tool_reject",
    "tool_web_fetch",
    "tool_web_search",
    "type_array",
    "type_boolean",
    "type_enum",
    "type_from_schema",
    "type_integer",
    "type_number",
    "type_object",
    "type_string",
]

#: Where public names live: first what a chat needs in any case, then what each is for itself.
_MODULES = (
    "content",
    "errors",
    "turns",
    "types",
    "tools",
    "tool_results",
    "prompts",
    "_cancel",
    "_clients",
    "_chat",
    "_vendors",
    "builtin_tools",
    "media",
    "record",
    "render",
    "_progress",
    "_sigv4",
    "_frames",
    "_prices",
    "tool_writer",
    "_parallel",
    "_batch",
    "live",
    "render.shinychat",
)


if not TYPE_CHECKING:  # type checkers would believe that every name is there

    def __getattr__(name: str) -> Any:
        kind, _, vendor = name.partition("_")
        if name in __all__:
            modules = (import_module(f".{module}", __name__) for module in _MODULES)
            value = getattr(next(module for module in modules if name in module.__all__), name)
        elif kind not in {"chat", "models"} or vendor not in _vendor_names():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        elif kind == "chat":
            value = getattr(import_module(f".providers.{vendor}", __name__), name)
        else:
            value = import_module("._models", __name__).lister(vendor)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    by_vendor = [f"{kind}_{vendor}" for kind in ("chat", "models") for vendor in _vendor_names()]
    return sorted({*__all__, *by_vendor, *globals()})


def _vendor_names() -> list[str]:
    """`openai` and so on, from the names of the files."""
    from pkgutil import iter_modules  # noqa: PLC0415 - takes as long as all the rest

    folder = import_module(".providers", __name__).__path__
    return [module.name for module in iter_modules(folder) if not module.name.startswith("_")]
