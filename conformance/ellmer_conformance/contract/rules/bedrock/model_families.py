"""Fields, blocks and tools that some families of models do not accept, in Bedrock's own sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...observed.exchange import Json, Request
from ...readers.bedrock import blocks, messages
from ...readers.json_access import elements, items_of, object_of
from ...rule import Finding, Refusal, broken, met
from ...rulebook import NO_IMAGES, NO_TOOLS, UnsupportedFeature, add_feature_rules
from ._refusals_and_examples import (
    ASK,
    CLAUDE,
    IMAGE,
    LLAMA,
    MAVERICK,
    MUST,
    NOVA,
    NOVA_LITE,
    PASSED_ON,
    REJECT,
    THOUGHT,
    TOOLS,
    assistant,
    body,
    book,
    loop,
    refused,
    result,
    use,
    user,
)

_GROK = "global.xai.grok-4.6"


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source="pydantic-ai, provider notes (verified live 2026-07)",
    refusal=refused("This model doesn't support the status field. Remove status and try again."),
    models=["*writer.palmyra*"],
    examples=[loop(result("a"), model="us.writer.palmyra-x5-v1:0")],
    counterexamples=[loop(result("a", status="success"), model="us.writer.palmyra-x5-v1:0")],
)
def palmyra_has_no_status(request: Request) -> Iterator[Finding]:
    """A tool result for Palmyra has no `status`.

    Fix: say in the text of the result that the tool failed.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            if isinstance(block.get("toolResult"), dict):
                told = "status" in block["toolResult"]
                yield (
                    broken(f"{place}/toolResult/status", "the result has a `status`") if told else met(place)
                )


@book.rule(
    "REQ-079",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/97281",
        "https://github.com/danny-avila/LibreChat/issues/13838",
    ],
    refusal=refused(
        f"{PASSED_ON}Malformed input request: #/toolConfig/tools/{{index}}: extraneous key [cachePoint] is not permitted, "
        "please reformat your input and try again."
    ),
    models=NOVA,
    examples=[body(ASK, toolConfig=TOOLS, model=NOVA_LITE)],
    counterexamples=[
        body(
            ASK, toolConfig={"tools": [*TOOLS["tools"], {"cachePoint": {"type": "default"}}]}, model=NOVA_LITE
        )
    ],
)
def nova_caches_no_tools(request: Request) -> Iterator[Finding]:
    """For Nova, the tools have no cache point. The system prompt and the messages may have one.

    Fix: set the cache point in `system`.
    """
    for place, tool in elements(object_of(request.body.get("toolConfig")).get("tools"), "/toolConfig/tools"):
        marked, index = "cachePoint" in tool, place.rpartition("/")[2]
        yield broken(place, "the tools have a cache point", index=index) if marked else met(place)


def _cached(request: Request) -> str | None:
    """Finds a cache point in the system prompt, the tools or a message."""
    tools = object_of(request.body.get("toolConfig")).get("tools")
    listed = [*elements(request.body.get("system"), "/system"), *elements(tools, "/toolConfig/tools")]
    for pointer, message in messages(request.body):
        listed += blocks(message, pointer)
    return next((place for place, each in listed if "cachePoint" in each), None)


_CODER = "qwen.qwen3-coder-next"

add_feature_rules(
    book,
    [
        UnsupportedFeature(
            "REQ-181",
            "Cache points are sent only to models that can cache a prompt.",
            ("*meta.llama*", "*deepseek.r1*", "*qwen.qwen3-coder-next*", "*nvidia.nemotron*"),
            Refusal(
                "You invoked an unsupported model or your request did not allow prompt caching. "
                "See the documentation for more information.",
                403,
                type="AccessDeniedException",
            ),
            (
                "https://github.com/BerriAI/litellm/pull/39210 (nemotron-super-3-120b)",
                "https://github.com/pensarai/apex/pull/943 (deepseek.r1)",
                "https://github.com/zeroclaw-labs/zeroclaw/pull/7315 (qwen3-coder-next)",
                "https://github.com/strands-agents/harness-sdk/pull/1807 (Llama)",
            ),
            _cached,
            body(ASK, model=_CODER),
            body(ASK, system=[{"text": "Be brief."}, {"cachePoint": {"type": "default"}}], model=_CODER),
            fix="leave the cache points out for these models.",
        )
    ],
)


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (llama3-2-3b)",
    refusal=refused("This model doesn't support tool use."),
    models=["*meta.llama3-2-1b*", "*meta.llama3-2-3b*"],
    examples=[body(ASK, model="us.meta.llama3-2-3b-instruct-v1:0")],
    counterexamples=[body(ASK, toolConfig=TOOLS, model="us.meta.llama3-2-3b-instruct-v1:0")],
)
def small_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """The smallest Llama models do not support tools.

    Fix: leave `toolConfig` out, or raise an error that names the model.
    """
    yield broken("/toolConfig", "tools") if request.body.get("toolConfig") else met("/messages")


@book.rule(
    "SCH-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/strands-agents/harness-sdk/issues/1241",
        "https://github.com/strands-agents/harness-sdk/pull/1981",
    ],
    refusal=refused(
        "This model doesn't support the toolConfig.toolChoice.{choice} field. "
        "Remove toolConfig.toolChoice.{choice} and try again."
    ),
    models=LLAMA,
    examples=[body(ASK, toolConfig=TOOLS, model=MAVERICK)],
    counterexamples=[body(ASK, toolConfig={**TOOLS, "toolChoice": {"any": {}}}, model=MAVERICK)],
)
def llama_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """`toolChoice` does not force a tool on Llama models.

    Fix: send `auto`, and say in the prompt which tool to call.
    """
    config = request.body.get("toolConfig")
    if isinstance(config, dict):
        chosen = config.get("toolChoice")
        choice = next(iter(chosen), "") if isinstance(chosen, dict) else ""
        place = "/toolConfig/toolChoice"
        forced = choice in {"any", "tool"}
        yield broken(place, f"the choice is {choice!r}", choice=choice) if forced else met("/toolConfig")


CACHE = {"cachePoint": {"type": "default"}}
UNSIGNED = {"reasoningContent": {"reasoningText": {"text": "2 + 3 …"}}}
OSS = "openai.gpt-oss-20b-1:0"
MISTRAL_7B = "mistral.mistral-7b-instruct-v0:2"


@book.rule(
    "SYS-006",
    MUST,
    REJECT,
    source="https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html",
    refusal=refused(
        "This model doesn't support system messages. Try again without a system message or use a model that supports "
        "system messages."
    ),
    models=["*mistral.mistral-7b-instruct*", "*mistral.mixtral-8x7b-instruct*", "*amazon.titan-text*"],
    examples=[body(ASK, model=MISTRAL_7B)],
    counterexamples=[body(ASK, system=[{"text": "Be brief."}], model=MISTRAL_7B)],
)
def small_models_have_no_system_prompt(request: Request) -> Iterator[Finding]:
    """The oldest Mistral models and Titan do not accept a system prompt.

    Fix: put the instructions into the first user message.
    """
    prompt = request.body.get("system")
    yield broken("/system", "a system prompt is set") if prompt else met("/messages")


@book.rule(
    "REQ-026",
    MUST,
    REJECT,
    source=[
        "https://github.com/crewAIInc/crewAI/issues/3317",
        "https://github.com/langchain4j/langchain4j/issues/3650",
    ],
    refusal=refused(
        "This model doesn't support the stopSequences field. Remove stopSequences and try again."
    ),
    models=["*openai.gpt-oss*", "*zai.glm*"],
    examples=[body(ASK, inferenceConfig={"maxTokens": 9}, model=OSS)],
    counterexamples=[body(ASK, inferenceConfig={"stopSequences": ["END"]}, model=OSS)],
)
def some_models_do_not_stop(request: Request) -> Iterator[Finding]:
    """OpenAI's and Z.AI's models do not accept stop sequences.

    Fix: leave `stopSequences` out for these models, or cut the answer yourself.
    """
    config, place = object_of(request.body.get("inferenceConfig")), "/inferenceConfig"
    if config:
        yield (
            broken(f"{place}/stopSequences", "a stop sequence is set")
            if config.get("stopSequences")
            else met(place)
        )


@book.rule(
    "REQ-148",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/111043 (Grok 4.6)",
        "https://github.com/aws-samples/sample-kolya-br-proxy/pull/104 (Grok 4.6)",
        "https://github.com/activepieces/activepieces/issues/15261 (GPT-5.6 Luna, with 1 and 0)",
    ],
    refusal=refused("This model doesn't support the temperature field. Remove temperature and try again."),
    models=["*xai.grok-4*", "*openai.gpt-5.6*"],
    examples=[body(ASK, inferenceConfig={"maxTokens": 9}, model=_GROK)],
    counterexamples=[body(ASK, inferenceConfig={"temperature": 1}, model=_GROK)],
)
def some_models_have_one_temperature(request: Request) -> Iterator[Finding]:
    """Grok 4 and GPT-5.6 do not accept `temperature`, not even 1.

    Fix: leave the temperature out.
    """
    config, place = object_of(request.body.get("inferenceConfig")), "/inferenceConfig"
    if config:
        set = config.get("temperature") is not None
        yield broken(f"{place}/temperature", "a temperature is set") if set else met(place)


@book.rule(
    "THK-020",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/issues/686",
        "https://github.com/strands-agents/harness-sdk/pull/682",
    ],
    refusal=refused(
        "This model doesn't support the reasoningContent.reasoningText.signature field. "
        "Remove reasoningContent.reasoningText.signature and try again."
    ),
    models=["*openai.*", "*qwen.*", "*minimax.*", "*moonshot*", "*zai.*", "*deepseek.*"],
    examples=[body(ASK, assistant(UNSIGNED, "5"), ASK, model=OSS)],
    counterexamples=[body(ASK, assistant(THOUGHT, "5"), ASK, model=OSS)],
)
def thoughts_of_others_are_not_signed(request: Request) -> Iterator[Finding]:
    """Reasoning is sent back with a signature only to Claude.

    Why: the conversation moved to another model. Fix: drop the signature or the reasoning.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            if thought := object_of(object_of(block.get("reasoningContent")).get("reasoningText")):
                signed = "signature" in thought
                yield broken(place, "signed reasoning is sent") if signed else met(place)


@book.rule(
    "THK-021",
    MUST,
    REJECT,
    source=[
        "https://github.com/openclaw/openclaw/issues/6470",
        "https://github.com/strands-agents/harness-sdk/issues/1160",
    ],
    refusal=refused("User messages cannot contain {what}. Please remove the {what} and try again."),
    examples=[body(ASK, assistant(THOUGHT, "5"), ASK)],
    counterexamples=[
        body(user(THOUGHT, "What is 2 + 3?")),
        body(user(use("a"), "What is 2 + 3?"), toolConfig=TOOLS),
    ],
)
def users_do_not_reason(request: Request) -> Iterator[Finding]:
    """Only assistant messages have reasoning content and tool calls.

    Why: a summary of the conversation, reasoning and calls included, was sent as a user message. Fix: send only the
    texts of a summary as the user.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "user":
            inside = {name for _, block in blocks(message, pointer) for name in block}
            what = next((words for name, words in _OF_ASSISTANTS.items() if name in inside), "")
            yield broken(pointer, f"a user message has {what}", what=what) if what else met(pointer)


_OF_ASSISTANTS = {"reasoningContent": "reasoning content", "toolUse": "tool uses"}


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source="https://github.com/anomalyco/opencode/issues/31687",
    refusal=refused("Cache point cannot be inserted after reasoning block."),
    models=CLAUDE,
    examples=[body(ASK, assistant(THOUGHT, "5", CACHE), ASK)],
    counterexamples=[body(ASK, assistant(THOUGHT, CACHE, "5"), ASK)],
)
def thoughts_are_not_cached(request: Request) -> Iterator[Finding]:
    """A cache point does not directly follow reasoning content.

    Fix: set the cache point after the text or the call that follows.
    """
    for pointer, message in messages(request.body):
        for (_, before), (place, block) in pairwise(blocks(message, pointer)):
            if "cachePoint" in block:
                wrong = "reasoningContent" in before
                yield broken(place, "a cache point follows reasoning content") if wrong else met(place)


@book.rule(
    "REQ-032",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/19851",
        "https://github.com/strands-agents/harness-sdk/pull/3677",
        "https://github.com/zed-industries/zed/pull/59436",
    ],
    refusal=refused(
        "There is nothing available to cache. Please remove the invalid cache point and try again."
    ),
    models=CLAUDE,
    examples=[body(user("Hi", CACHE))],
    counterexamples=[
        body(user(CACHE, "Hi")),
        body(ASK, assistant(CACHE), ASK),
        body(ASK, assistant("5"), user(CACHE, "Thanks!")),
    ],
)
def cache_points_follow_content(request: Request) -> Iterator[Finding]:
    """A cache point follows content of the same message. Earlier messages do not count.

    Fix: set the cache point at the end of a message, and leave it out of an empty one.
    """
    for pointer, message in messages(request.body):
        found = list(blocks(message, pointer))
        if any("cachePoint" in block for _, block in found):
            place, first = found[0]
            wrong = "cachePoint" in first
            yield broken(place, "nothing in the message precedes the cache point") if wrong else met(place)


def _image(request: Request) -> str | None:
    """Returns the place of an image among the blocks of a message."""
    return next((place for place, block in _all_blocks(request) if "image" in block), None)


def _image_of_a_tool(request: Request) -> str | None:
    """Returns the place of an image in the result of a tool."""
    for place, block in _all_blocks(request):
        for index, part in enumerate(items_of(object_of(block.get("toolResult")).get("content"))):
            if "image" in object_of(part):
                return f"{place}/toolResult/content/{index}"
    return None


def _all_blocks(request: Request) -> Iterator[tuple[str, Json]]:
    return (found for pointer, message in messages(request.body) for found in blocks(message, pointer))


def _tools(request: Request) -> str | None:
    return "/toolConfig" if object_of(request.body.get("toolConfig")).get("tools") else None


_NO_IMAGE = refused(
    "This model doesn't support the image field for user messages. Remove image and try again."
)
_FEATURES = "https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html"
_PI = "https://github.com/earendil-works/pi/issues/8960 (the sentence)"
_MICRO, _LUNA, _R1 = "us.amazon.nova-micro-v1:0", "openai.gpt-5.6-luna", "us.deepseek.r1-v1:0"

add_feature_rules(
    book,
    [
        UnsupportedFeature(
            "REQ-063",
            "Images are sent only to models that accept them.",
            (
                "*amazon.nova-micro*",
                "*amazon.titan-text*",
                "*deepseek.*",
                "*openai.gpt-oss*",
                "*mistral.mixtral*",
            ),
            _NO_IMAGE,
            (f"{_FEATURES} (image chat)", _PI),
            _image,
            body(ASK, model=_MICRO),
            body(user(IMAGE, "?"), model=_MICRO),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-066",
            "The result of a tool has an image only for models that accept images there.",
            ("*openai.gpt-5*", "*openai.gpt-6*"),
            _NO_IMAGE,
            (
                "https://github.com/anomalyco/opencode/issues/49443 (tried at each: users may send images, tools may not)",
                "https://github.com/anomalyco/opencode/issues/48069",
                _PI,
            ),
            _image_of_a_tool,
            body(user(IMAGE, "?"), model=_LUNA),
            loop(result("a", IMAGE), model=_LUNA),
            fix="send the image in the user message, beside the result.",
        ),
        UnsupportedFeature(
            "REQ-064",
            "Tools are sent only to models that support them.",
            ("*deepseek.r1*",),
            refused("This model doesn't support tool use."),
            "https://github.com/langchain-ai/langchain-aws/issues/447 (deepseek.r1)",
            _tools,
            body(ASK, model=_R1),
            body(ASK, model=_R1, toolConfig=TOOLS),
            fix=NO_TOOLS,
        ),
    ],
)
