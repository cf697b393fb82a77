"""Makes any provider available as a model of inspect-ai."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NoReturn

from inspect_ai.model import GenerateConfig, ModelAPI, modelapi

from ..contents.content import ToolDef
from ..contents.turns import AssistantTurn, UserTurn
from ..errors import ToolRoundsError, UsageError
from ..providers._construction import chat
from ..schemas.external_tool_schemas import arguments_of
from ..wire.interfaces import params
from .messages import output_of, turns_of

__all__ = ["EllmerModel"]

#: Their names of the parameters whose names differ.
NAMES = {"stop_sequences": "stop_seqs"}
PARAMETERS = (
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_sequences"),
    *("frequency_penalty", "presence_penalty", "reasoning_effort", "reasoning_tokens"),
)


@modelapi(name="ellmer")
class EllmerModel(ModelAPI):  # type: ignore[misc]  # inspect-ai is not where types are checked
    """The model `ellmer/PROVIDER/MODEL`, which uses `chat("PROVIDER/MODEL")`. Further arguments are options of `chat()`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - their signature
        **options: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        given = {"base_url": base_url, "api_key": api_key}
        self.options = {name: value for name, value in given.items() if value} | options

    async def generate(
        self, input: list[Any], tools: list[Any], tool_choice: Any, config: GenerateConfig
    ) -> Any:
        """Sends one request and returns its answer."""
        if tool_choice not in ("auto", "none"):
            raise UsageError(f"tool_choice must be 'auto' or 'none' here, not {tool_choice!r}.")
        *before, asked = turns_of(input)
        if not isinstance(asked, UserTurn):
            raise UsageError("There is nothing to answer, because the last message is from the model.")
        talk = chat(self.model_name, params=_params(config), echo="none", **self.options)
        talk.max_tool_rounds = 0
        talk.set_tools([_tool(tool) for tool in tools] if tool_choice == "auto" else [])
        talk.set_turns(before)
        async with talk:
            with suppress(ToolRoundsError):  # the caller runs the tools
                await talk.chat_async(*asked.contents)
        answer = talk.last_turn("assistant")
        assert isinstance(answer, AssistantTurn)
        return output_of(answer, self.model_name)


def _params(config: GenerateConfig) -> dict[str, Any]:
    given = {name: getattr(config, NAMES.get(name, name), None) for name in PARAMETERS}
    return params(**{name: value for name, value in given.items() if value is not None})


def _tool(tool: Any) -> ToolDef:
    schema = tool.parameters.model_dump(exclude_none=True)
    return ToolDef(_never, tool.name, tool.description, arguments_of(schema), convert=False)


def _never(**_arguments: Any) -> NoReturn:
    raise AssertionError("inspect-ai runs the tools")
