"""Snowflake Cortex, https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.openai_chat.from_wire import ENDINGS
from ..wire.openai_chat.to_wire import OpenAIChat
from ..wire.shared.endings_and_errors import Endings
from ._chat_completions import ChatCompletions
from ._construction import Options, construct, setting


@dataclass(frozen=True, eq=False, repr=False)
class Snowflake(ChatCompletions):
    """Models of many makers inside a Snowflake account. The key is a programmatic access token."""

    provider: ClassVar[str] = "Snowflake"
    models_path: ClassVar[str] = ""
    default_model: ClassVar[str] = "claude-sonnet-5"
    key_vars: ClassVar[tuple[str, ...]] = ("SNOWFLAKE_PAT", "SNOWFLAKE_TOKEN")
    param_names: ClassVar[Mapping[str, str]] = OpenAIChat.param_names
    endings: ClassVar[Endings] = ENDINGS.also(
        "recorded: whole answers have an empty reason, streams none; this service has no other end mark",
        whole={"": "success"},
    )
    example_url: ClassVar[str] = "https://example.snowflakecomputing.com/api/v2/cortex/v1"

    base_url: str = ""


def chat_snowflake(
    system_prompt: str | None = None, *, account: str | None = None, **options: Unpack[Options]
) -> Chat:
    """Makes a chat with a model of Snowflake Cortex.

    Key: `SNOWFLAKE_PAT` or `SNOWFLAKE_TOKEN`, a programmatic access token. Account: `SNOWFLAKE_ACCOUNT`
    (`myorg-myaccount`). Default model: `claude-sonnet-5`. API:
    https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api.

    Args:
        system_prompt: The system prompt. Default: none.
        account: The account's identifier. Default: `SNOWFLAKE_ACCOUNT`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The key or the account is missing, or an option is wrong.

    Examples:
        >>> chat_snowflake(account="myorg-myaccount", api_key="any-key").get_model()
        'claude-sonnet-5'
    """
    if not options.get("base_url"):
        host = setting("account", account, "SNOWFLAKE_ACCOUNT")
        options["base_url"] = f"https://{host}.snowflakecomputing.com/api/v2/cortex/v1"
    return construct(Snowflake, system_prompt, options)
