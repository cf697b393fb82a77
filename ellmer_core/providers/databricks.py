"""Databricks, https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.values import Json, Request
from ._chat_completions import ChatCompletions
from ._construction import Options, construct
from ._environment import setting

__all__ = ["Databricks", "chat_databricks"]


@dataclass(frozen=True)
class Databricks(ChatCompletions):
    """Models served in a workspace. Usage comes with every chunk, without being asked for."""

    vendor: ClassVar[str] = "Databricks"
    models_path: ClassVar[str] = ""
    default_model: ClassVar[str] = "databricks-claude-sonnet-4-5"
    key_vars: ClassVar[tuple[str, ...]] = ("DATABRICKS_TOKEN",)
    example_url: ClassVar[str] = "https://example.cloud.databricks.com/serving-endpoints"

    base_url: str = ""

    def post(self, url: str, body: Json, *, stream: bool) -> Request:
        return super().post(url, {k: v for k, v in body.items() if k != "stream_options"}, stream=stream)


def chat_databricks(
    system_prompt: str | None = None, *, workspace: str | None = None, **options: Unpack[Options]
) -> Chat:
    """A chat with a model on Databricks. Options as in `Options`; key in `DATABRICKS_TOKEN`, the workspace's URL in
    `DATABRICKS_HOST`."""
    if not options.get("base_url"):
        host = setting("workspace", workspace, "DATABRICKS_HOST").removeprefix("https://").rstrip("/")
        options["base_url"] = f"https://{host}/serving-endpoints"
    return construct(Databricks, system_prompt, options)
