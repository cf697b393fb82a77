"""OpenAI's models on Azure, https://learn.microsoft.com/azure/ai-foundry/openai/reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Json, Request, Supports
from ..wire.openai_chat.to_wire import OpenAIChat
from ._construction import Options, construct, setting


@dataclass(frozen=True, eq=False, repr=False)
class AzureOpenAI(OpenAIChat):
    """Chat Completions of a resource; `model` is the name of a deployment. `api_version` is for the older URLs, and
    `entra` says that the credentials are tokens of Microsoft Entra ID.
    """

    provider: ClassVar[str] = "Azure/OpenAI"
    models_path: ClassVar[str] = ""
    key_vars: ClassVar[tuple[str, ...]] = ("AZURE_OPENAI_API_KEY",)
    supports: ClassVar[Supports] = Supports(pdfs=False, native_tool_media=False, thinking=False)
    example_url: ClassVar[str] = "https://example.openai.azure.com/openai/v1"

    base_url: str = ""
    api_version: str = ""
    entra: bool = False

    def headers(self) -> dict[str, str]:
        return super().headers() if self.entra or not self.credentials else {"api-key": self.credentials()}

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        version = f"?api-version={self.api_version}" if self.api_version else ""
        return super().post(url + version, body, stream=stream)


def chat_azure_openai(
    system_prompt: str | None = None,
    *,
    endpoint: str | None = None,
    api_version: str = "",
    **options: Unpack[Options],
) -> Chat:
    """Makes a chat with a deployment of an OpenAI model on Azure, over Chat Completions.

    Key: `AZURE_OPENAI_API_KEY`, or `credentials` that return an Entra ID token. URL of the resource:
    `AZURE_OPENAI_ENDPOINT`. There is no default model: `model` is required. `model` is the name of your deployment, not
    of the model. API: https://learn.microsoft.com/azure/ai-foundry/openai/reference.

    Args:
        system_prompt: The system prompt. Default: none.
        endpoint: The URL of the resource. Default: `AZURE_OPENAI_ENDPOINT`.
        api_version: The date of an older version of the API, for its older URLs. Default: the current API.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The key, `model` or the URL of the resource is missing, or an option is wrong.

    Examples:
        >>> chat_azure_openai(model="my-deployment", endpoint="https://example.openai.azure.com", api_key="any-key").get_model()
        'my-deployment'
    """
    if not options.get("base_url"):
        resource = setting("endpoint", endpoint, "AZURE_OPENAI_ENDPOINT").rstrip("/")
        path = f"deployments/{options.get('model')}" if api_version else "v1"
        options["base_url"] = f"{resource}/openai/{path}"
    entra = options.get("credentials") is not None
    return construct(AzureOpenAI, system_prompt, options, api_version=api_version, entra=entra)
