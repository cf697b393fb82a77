"""Databricks, https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.interfaces import Json, Request
from ._chat_completions import ChatCompletions
from ._construction import Options, construct, setting


@dataclass(frozen=True, eq=False, repr=False)
class Databricks(ChatCompletions):
    """Models of a workspace. Every chunk of a stream has the usage."""

    provider: ClassVar[str] = "Databricks"
    models_path: ClassVar[str] = ""
    default_model: ClassVar[str] = "databricks-claude-sonnet-5"
    key_vars: ClassVar[tuple[str, ...]] = ("DATABRICKS_TOKEN",)
    example_url: ClassVar[str] = "https://example.cloud.databricks.com/serving-endpoints"

    base_url: str = ""

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        return super().post(url, {k: v for k, v in body.items() if k != "stream_options"}, stream=stream)


def chat_databricks(
    system_prompt: str | None = None, *, workspace: str | None = None, **options: Unpack[Options]
) -> Chat:
    """Makes a chat with a model that a Databricks workspace serves.

    Key: `DATABRICKS_TOKEN`. URL of the workspace: `DATABRICKS_HOST`. Default model: `databricks-claude-sonnet-5`.
    Every chunk of a stream reports the usage. API:
    https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference.

    Args:
        system_prompt: The system prompt. Default: none.
        workspace: The URL of the workspace. Default: `DATABRICKS_HOST`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The key or the URL of the workspace is missing, or an option is wrong.

    Examples:
        >>> chat_databricks(workspace="https://example.cloud.databricks.com", api_key="any-key").get_model()
        'databricks-claude-sonnet-5'
    """
    if not options.get("base_url"):
        host = setting("workspace", workspace, "DATABRICKS_HOST").removeprefix("https://").rstrip("/")
        options["base_url"] = f"https://{host}/serving-endpoints"
    return construct(Databricks, system_prompt, options)
