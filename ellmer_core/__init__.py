"""Chat with language models and let them call tools, from Python, on plain httpx.

All public names are imported from here and are loaded on first use. Importing the package loads neither httpx nor
pydantic. `chat("provider/model")` makes a chat, and so does `chat_<provider>()`, which is `chat_<provider>` in
`providers/<provider>.py`. `models_<provider>()` lists the models of a provider. (`providers/__init__.pyi` tells type
checkers the names; `python -m ellmer_core.providers._stub` writes it again.)
"""

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .contents.display import RENDERERS

# ruff: noqa: F403, F405 - type checkers read what each module offers; `__all__` below says what is public here

if TYPE_CHECKING:
    from ._chat.chat import *
    from ._chat.tool_writer import *
    from .contents.content import *
    from .contents.files import *
    from .contents.json_serialization import *
    from .contents.prompt_templates import *
    from .contents.turns import *
    from .conversation.approval import *
    from .conversation.settings import *
    from .errors import *
    from .jobs.batch import *
    from .jobs.parallel import *
    from .jobs.prompts_and_results import *
    from .live import *
    from .models.prices.price_lookup import *
    from .providers import *
    from .providers._construction import *
    from .render.html import *
    from .render.markdown import *
    from .render.shinychat import *
    from .render.tool_card import *
    from .schemas.data_frames import *
    from .schemas.type_classes import *
    from .schemas.type_functions import *
    from .tool_execution import *
    from .tools.definition import *
    from .tools.provider_tools import *
    from .tools.results import *
    from .transport.aws_signature import *
    from .transport.http_clients import *
    from .wire.interfaces import *

__all__ = [
    "ApprovalRequiredError", "AssistantPartialTurn", "AssistantTurn", "AsyncToolError",
    "AuthenticationError", "AwsKeys", "BadRequestError", "Chat", "ConnectError", "Content",
    "ContentCitation", "ContentError", "ContentFieldError", "ContentFile", "ContentImage",
    "ContentImageInline", "ContentImageRemote", "ContentJson", "ContentPDF", "ContentProviderCall",
    "ContentProviderResult", "ContentText", "ContentThinking", "ContentToolQuestion", "ContentToolRequest", "ContentToolResult",
    "ContentUnknown", "ContentUploaded", "ContextWindowError", "ConversionError", "Decision", "EllmerError",
    "EllmerWarning", "IncompleteResponseError", "Limits", "NotSentError", "Options", "Profile", "PromptProgress",
    "PromptResults", "ProviderError", "RateLimitError", "RequestTimeoutError", "ResponseError", "ServerError",
    "StreamController", "SystemTurn", "Timeouts", "Tokens", "ToolBuiltIn", "ToolCallDelta", "ToolContext", "ToolDef",
    "ToolReject", "ToolResultDisplay", "ToolResultError",
    "ToolRoundsError", "Turn", "Type", "TypeArray", "TypeBasic", "TypeEnum", "TypeJsonSchema", "TypeObject",
    "UsageError", "UsageLimitError", "UsageLimits", "UserTurn", "batch_chat", "batch_chat_completed",
    "batch_chat_structured", "batch_chat_text", "chat", "chat_app", "chat_fallback", "check_tool_result",
    "content_file", "content_image_file", "content_image_plot", "content_image_url", "content_pdf_file",
    "content_pdf_url", "contents_html", "contents_markdown", "contents_record", "contents_replay",
    "contents_shinychat", "contents_text", "create_tool_def", "df_schema", "export", "interpolate",
    "interpolate_file", "live_browser", "live_console", "local_shinychat", "parallel_chat",
    "parallel_chat_as_completed", "parallel_chat_as_completed_async", "parallel_chat_async",
    "parallel_chat_structured", "parallel_chat_structured_async",
    "parallel_chat_text", "parallel_chat_text_async", "params", "refresh_prices", "shinychat_stream",
    "token_usage", "tool", "tool_annotations", "tool_context", "tool_reject", "tool_web_fetch", "tool_web_search",
    "type_array", "type_boolean", "type_enum", "type_from_schema", "type_integer", "type_number",
    "type_object", "type_string",
]  # fmt: skip

if TYPE_CHECKING:  # written by `python -m ellmer_core.providers._stub`
    __all__ += [
        "chat_anthropic", "chat_aws_bedrock", "chat_azure_openai", "chat_cerebras", "chat_claude",
        "chat_cloudflare", "chat_cohere", "chat_databricks", "chat_deepseek", "chat_fireworks",
        "chat_github", "chat_google_gemini", "chat_google_vertex", "chat_groq", "chat_huggingface",
        "chat_lmstudio", "chat_mistral", "chat_moonshot", "chat_ollama", "chat_openai",
        "chat_openai_compatible", "chat_openai_completions", "chat_openai_responses", "chat_openrouter",
        "chat_perplexity", "chat_portkey", "chat_posit", "chat_qwen", "chat_snowflake", "chat_together",
        "chat_vllm", "chat_xai", "chat_zai", "models_anthropic", "models_aws_bedrock",
        "models_azure_openai", "models_cerebras", "models_claude", "models_cloudflare", "models_cohere",
        "models_databricks", "models_deepseek", "models_fireworks", "models_github",
        "models_google_gemini", "models_google_vertex", "models_groq", "models_huggingface",
        "models_lmstudio", "models_mistral", "models_moonshot", "models_ollama", "models_openai",
        "models_openai_compatible", "models_openai_completions", "models_openai_responses",
        "models_openrouter", "models_perplexity", "models_portkey", "models_posit", "models_qwen",
        "models_snowflake", "models_together", "models_vllm", "models_xai", "models_zai"
    ]  # fmt: skip

#: The modules of public names: first those that every chat needs, then independent ones.
_MODULES = (
    "contents.content",
    "errors",
    "contents.turns",
    "conversation.approval",
    "conversation.settings",
    "transport.http_clients",
    "_chat.chat",
    "providers._construction",
    "schemas.type_classes",
    "schemas.type_functions",
    "tools.definition",
    "tools.results",
    "contents.prompt_templates",
    "tools.provider_tools",
    "contents.files",
    "contents.json_serialization",
    "render.tool_card",
    "render.html",
    "render.markdown",
    "tool_execution",
    "transport.aws_signature",
    "schemas.data_frames",
    "models.prices.price_lookup",
    "wire.interfaces",
    "_chat.tool_writer",
    "jobs.parallel",
    "jobs.prompts_and_results",
    "jobs.batch",
    "live",
    "render.shinychat",
)


_OFFERED = __all__

if not TYPE_CHECKING:  # type checkers would believe that every name is there
    del __all__  # made when it is asked for, with the functions of the providers

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            value = sorted({*_OFFERED, *_names_by_provider()})
        elif name in _OFFERED:
            modules = (import_module(f".{module}", __name__) for module in _MODULES)
            value = getattr(next(module for module in modules if name in module.__all__), name)
            value = _spelt(value, makes=name.startswith("type_"))
        elif name == "TimeoutError":  # not in `__all__`: a star import would hide Python's own
            value = __getattr__("RequestTimeoutError")
        else:
            value = _by_provider(name)
        globals()[name] = value
        return value


def _by_provider(name: str) -> Any:
    """Returns `chat_<provider>` or `models_<provider>`."""
    kind, _, provider = name.partition("_")
    provider = import_module(".providers", __name__).ALIASES.get(provider, provider)
    module = _module_of(provider) if kind in {"chat", "models"} else None
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if kind == "models":
        return import_module(".providers._model_lists", __name__).lister(provider)
    make = getattr(module, f"chat_{provider}")
    if not hasattr(make, "__wrapped__"):
        make = _spelt(make, makes=True)
        setattr(module, f"chat_{provider}", make)  # one function, also for pickle and under a second name
    return make


def _spelt(value: Any, *, makes: bool = False) -> Any:
    """Returns a function or a class with better errors for a wrong keyword and a wrong type. Other values are unchanged."""
    from .base.argument_checks import spell_out, spelt  # noqa: PLC0415 - importing the package loads nothing

    called: Any = value
    if isinstance(value, FunctionType):
        spell_out(value)
    elif isinstance(value, type):
        called = next(vars(base)["__init__"] for base in value.__mro__ if "__init__" in vars(base))
    return spelt(value, makes=makes) if isinstance(called, FunctionType) else value  # not one in C


def _module_of(provider: str) -> Any:
    """Returns the module of a provider, or `None` if there is no such provider."""
    name = f"{__name__}.providers.{provider}"
    try:
        return None if provider.startswith("_") or not provider.isidentifier() else import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def _renderer(module: str, function: str) -> Callable[[Any], Any]:
    """Returns a function of `render/`, which is loaded at its first call."""

    def render(value: Any) -> Any:
        return getattr(import_module(f".render.{module}", __name__), function)(value)

    return render


RENDERERS.update(
    text=_renderer("printed_form", "format_value"),
    rich=_renderer("rich_console", "renderable"),
    html=_renderer("html", "notebook_html"),
    notebook=_renderer("markdown", "notebook_markdown"),
)


def __dir__() -> list[str]:
    return sorted({*_OFFERED, *_names_by_provider(), *globals()})


def _names_by_provider() -> list[str]:
    """Returns the names `chat_<provider>` and `models_<provider>`."""
    providers = [*_provider_names(), *import_module(".providers", __name__).ALIASES]
    return [f"{kind}_{provider}" for kind in ("chat", "models") for provider in providers]


def _provider_names() -> list[str]:
    """Returns the providers' names (`openai` and so on) from the names of the files."""
    from pkgutil import iter_modules  # noqa: PLC0415 - takes as long as all the rest

    folder = import_module(".providers", __name__).__path__
    return [module.name for module in iter_modules(folder) if not module.name.startswith("_")]
