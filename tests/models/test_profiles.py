"""The capabilities of a model: the tables, `thinking=`, and parameters that are left out with one warning."""

import json
import re
import warnings
from base64 import b64encode
from dataclasses import replace
from datetime import date
from io import BytesIO
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image
from wires.every_provider import WIRES

from ellmer_core.contents.content import ContentImageInline, ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.errors import ContentError, EllmerWarning, UsageError
from ellmer_core.models.profiles import profile_of, rows
from ellmer_core.models.unsupported_parameters import Asked, fitted
from ellmer_core.providers.anthropic import Anthropic, chat_anthropic
from ellmer_core.providers.aws_bedrock import AWSBedrock, chat_aws_bedrock
from ellmer_core.providers.cerebras import Cerebras
from ellmer_core.providers.google_gemini import chat_google_gemini
from ellmer_core.providers.groq import chat_groq
from ellmer_core.providers.mistral import chat_mistral
from ellmer_core.providers.moonshot import chat_moonshot
from ellmer_core.providers.openai import OpenAI, chat_openai
from ellmer_core.providers.openai_completions import OpenAICompletions, chat_openai_completions
from ellmer_core.providers.qwen import Qwen
from ellmer_core.providers.together import Together
from ellmer_core.providers.xai import chat_xai
from ellmer_core.wire.interfaces import Profile, params

ASK = [UserTurn("hi")]


def sent(chat, *without):
    body = chat.wire.request(ASK).json
    return {name: value for name, value in body.items() if name not in {"messages", "input", *without}}


def claude(**options):
    return chat_anthropic(**{"api_key": "k", "model": "claude-sonnet-5", **options})


def test_an_image_with_more_pixels_than_the_model_accepts():
    chat, too_wide = claude(), png(8001)

    with pytest.raises(ContentError, match="more than 8,000 pixels in a row or column"):
        chat.chat("What is this?", too_wide)
    assert not chat.wire.refuses(png(8000))
    assert not chat_openai(api_key="k").wire.refuses(too_wide)


@pytest.mark.parametrize(
    ("widths", "shown"),
    [
        ([2001] * 20, 20),
        ([2001] * 25, 20),  # the newest
        ([9] * 30, 30),
        ([2001] + [9] * 29, 29),  # only a large one that is old
        ([9] * 29 + [2001], 20),
    ],
)
@pytest.mark.parametrize("by", ["the user", "a tool"])
def test_many_images_may_have_fewer_pixels(widths, shown, by):
    bodies = []

    def answer(request):
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"type": "message", "content": [], "stop_reason": "end_turn"})

    chat = claude(client=httpx.Client(transport=httpx.MockTransport(answer)))
    for number, width in enumerate(widths):
        chat.add_turn(*(given(png(width)) if by == "the user" else returned(f"c{number}", [png(width)])))
    with warnings.catch_warnings(record=True, action="always") as warned:
        chat.chat("And now?")

    sent = json.dumps(bodies[0]["messages"])
    assert sent.count('"type": "image"') == shown
    assert str(chat).count("[inline image]") == shown
    assert len(warned) == (shown < len(widths))
    if shown == 20 < len(widths):
        assert sent.index("is not shown any more") < sent.index('"type": "image"')


def test_a_broken_image_among_the_newest_leaves_the_others():
    chat = claude()
    for image in [png(9)] * 29 + [ContentImageInline("image/png", "")]:
        chat.add_turn(*given(image))
    assert str(chat).count("[inline image]") == 29


def given(image):
    return UserTurn([image]), AssistantTurn(["Yes."])


def returned(id, value):
    call = ContentToolRequest(id, "look", {})
    return UserTurn("Look."), AssistantTurn([call]), UserTurn([ContentToolResult(value, request=call)])


def test_too_many_large_images_at_once_are_an_error():
    with pytest.raises(ContentError, match="more than 2,000 pixels"):
        claude().chat("What are these?", *[png(2001)] * 21)


def png(width):
    out = BytesIO()
    Image.new("1", (width, 1)).save(out, "PNG")
    return ContentImageInline("image/png", b64encode(out.getvalue()).decode())


def test_every_row_of_the_tables_names_its_source_and_compiles():
    assert len(rows()) > 50
    for row in rows():
        assert urlsplit(row["source"]).scheme == "https"
        assert row["provider"]
        re.compile(row["model"])
        assert row.get("since", date.min) < row.get("until", date.max)


def test_every_row_names_providers_as_they_are_printed():
    """A row of any other name would never be applied."""
    assert {provider for row in rows() for provider in row["provider"]} <= {wire.provider for wire in WIRES}


def test_a_row_holds_between_its_days():
    terra = OpenAI(model="gpt-6.1-terra")
    assert "none" not in (profile_of(terra, date(2026, 10, 25)).efforts or ())
    assert "none" in (profile_of(terra, date(2026, 10, 26)).efforts or ())
    assert profile_of(terra) == profile_of(terra, date(2026, 11, 25))
    assert not profile_of(Anthropic(model="claude-opus-4-5"), date(2026, 10, 20)).gone


@pytest.mark.parametrize(
    ("model", "structured", "images"),
    [
        ("gpt-3.5-turbo", "words", ()),
        ("gpt-4", "words", ()),
        ("gpt-4-0613", "words", ()),
        ("gpt-4-turbo", "words", None),
        ("gpt-4o", "schema", None),
        ("gpt-4.1", "schema", None),
    ],
)
def test_old_models_of_openai_take_neither_schemas_nor_images(model, structured, images):
    profile = profile_of(OpenAI(model=model))
    assert (profile.structured, profile.images) == (structured, images)


def test_thinking_is_turned_off_as_each_model_of_this_autumn_takes_it():
    assert sent(claude(model="claude-sonnet-5-5", thinking="off"))["thinking"] == {"type": "between_tools"}
    assert sent(claude(model="claude-haiku-5-5", thinking="off"))["thinking"] == {"type": "disabled"}
    assert (
        sent(chat_openai(api_key="k", model="gpt-6.1-terra", thinking="off"))["reasoning"]["effort"] == "none"
    )


@pytest.mark.parametrize(
    ("chat", "model", "efforts"),
    [
        (chat_google_gemini, "gemini-3.6-flash", "minimal low medium high"),
        (chat_google_gemini, "gemini-3.8-flash", "low medium high"),
        (chat_google_gemini, "gemini-4-argon", "low medium high"),
        (chat_google_gemini, "gemini-4-neon", "low medium high xhigh"),
        (chat_mistral, "mistral-large-4", "low medium high"),
        (chat_mistral, "zai-glm-5-3", "low high max"),
        (chat_xai, "grok-4.3", "none low medium high"),
        (chat_xai, "grok-4.6", "low medium high xhigh"),
        (chat_xai, "grok-4.7", "low medium high"),
    ],
)
def test_efforts_of_this_autumns_models(chat, model, efforts):
    assert chat(api_key="k", model=model).profile.efforts == tuple(efforts.split())


def test_haiku_5_5_can_be_forced_and_its_siblings_cannot():
    forced = {name: claude(model=f"claude-{name}-5-5").profile.forced for name in ("haiku", "sonnet", "opus")}
    assert forced == {"haiku": True, "sonnet": False, "opus": False}


@pytest.mark.parametrize(
    ("forced", "choice", "warning"),
    [
        (True, "required", ""),
        (True, "auto", ""),
        (False, "auto", ""),
        (False, "required", "tool_choice is left out, because the model does not support forced calls"),
    ],
)
def test_a_forced_call_is_left_out_only_where_it_is_not_supported(forced, choice, warning):
    asked = Asked({"tool_choice": choice}, {"forced": forced})
    wire, told = fitted(OpenAICompletions(model="m"), asked)

    assert wire.params == ({} if warning else {"tool_choice": choice})
    assert warning in told
    assert bool(told) == bool(warning)


def test_an_unknown_model_inherits_what_is_new():
    unknown = profile_of(Anthropic(model="claude-opus-9"))
    assert "temperature" in unknown.refuses
    assert unknown.thinks
    assert unknown.headers
    assert not unknown.forced


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-sonnet-5-20260203", "claude-opus-4-8"])
def test_models_before_preserved_thinking_are_not_told_of_it(model):
    profile = profile_of(Anthropic(model=model))
    assert (profile.fields, profile.headers, profile.forced) == ({}, {}, True)


@pytest.mark.parametrize("model", ["claude-fable-5-1", "claude-opus-5-5", "claude-fable-5-2"])
def test_a_changed_prefix_drops_thinking_and_does_not_stop_the_chat(model):
    request = claude(model=model, api_headers={"anthropic-beta": "mine"}).wire.request(ASK)
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert request.json["thinking"] == {"type": "adaptive", "block_binding": binding}
    assert request.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01,mine"


def test_bedrock_is_told_to_drop_thinking_in_the_fields_for_its_model():
    newer, older = (
        chat_aws_bedrock(
            model=f"us.anthropic.claude-{name}", credentials=lambda: "k", base_url="https://x", echo="none"
        )
        for name in ("fable-5-1", "sonnet-5")
    )
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert newer.wire.request(ASK).json["additionalModelRequestFields"] == {
        "thinking": {"type": "adaptive", "block_binding": binding},
        "anthropic_beta": ("thinking-binding-controls-2026-08-01",),  # a list in JSON
    }
    assert "additionalModelRequestFields" not in older.wire.request(ASK).json


def test_one_warning_at_the_line_of_the_caller_names_model_and_parameters():
    with pytest.warns(EllmerWarning) as caught:
        chat = claude(params=params(temperature=0.2, top_p=0.9, seed=1, max_tokens=50))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    for name in ("claude-sonnet-5", "temperature", "top_p", "seed"):
        assert name in str(caught[0].message)
    assert sent(chat) == {"model": "claude-sonnet-5", "max_tokens": 50}
    assert chat.get_params() == {"temperature": 0.2, "top_p": 0.9, "seed": 1, "max_tokens": 50}


def test_what_was_left_out_comes_back_with_a_model_that_takes_it():
    with pytest.warns(EllmerWarning, match="temperature is left out"):
        chat = claude(params=params(temperature=0.2), api_version="2023-06-01")
    chat.set_model("claude-haiku-4-5")
    assert sent(chat)["temperature"] == 0.2
    assert sent(chat.fork()) == sent(chat)
    chat.set_params(top_k=3)
    assert "temperature" not in sent(chat)
    assert sent(chat)["top_k"] == 3


def test_a_profile_of_the_caller_s_own():
    takes = {"refuses": (), "refuses_thinking": (), "gone": ()}
    chat = claude(params=params(temperature=0.2), profile=takes)
    assert sent(chat)["temperature"] == 0.2
    assert chat.profile.efforts
    assert claude(profile=Profile()).profile == Profile()
    assert claude(profile={"refuses": ["top_k"]}).profile.refuses == ("top_k",)  # a configuration has lists


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"smells": 1}, "`smells=` is not a parameter of Profile()"),
        ({"image": ()}, "`image=` is not a parameter of Profile(); did you mean `images=`?"),
        ({"images": False}, "images= of Profile() must be tuple or None, not False (bool)."),
        ({"tools": "no"}, "tools= of Profile() must be bool, not 'no' (str)."),
    ],
)
def test_a_wrong_field_of_a_profile_is_named(fields, said):
    with pytest.raises(UsageError, match=re.escape(f"profile= is not valid: {said}")):
        claude(profile=fields)


def test_a_parameter_as_a_keyword_is_told_its_place():
    with pytest.raises(TypeError, match=r"params=params\(temperature=…\)"):
        chat_openai(api_key="k", temperature=0.2)


THOUGHT = [
    ("claude-sonnet-5", "off", {"thinking": {"type": "disabled"}}),
    (
        "claude-sonnet-5",
        "high",
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
    ),
    (
        "claude-sonnet-5",
        5000,
        {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
    ),
    ("claude-haiku-4-5", "off", {}),
    ("claude-haiku-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
    ("claude-haiku-4-5", 5000, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
]


@pytest.mark.parametrize(("model", "setting", "said"), THOUGHT)
def test_thinking_at_claude(model, setting, said):
    assert sent(claude(model=model, thinking=setting), "model", "max_tokens") == said


@pytest.mark.parametrize(
    ("make", "model", "setting", "place", "said"),
    [
        (chat_openai, "gpt-5.6-terra", "low", "reasoning", {"effort": "low", "summary": "auto"}),
        (chat_openai, "gpt-5.6-terra", "off", "reasoning", {"effort": "none"}),
        (
            chat_google_gemini,
            "gemini-2.5-flash",
            "off",
            "generationConfig",
            {"thinkingConfig": {"thinkingBudget": 0}},
        ),
        (
            chat_google_gemini,
            "gemini-3.5-flash",
            "max",
            "generationConfig",
            {"thinkingConfig": {"thinkingLevel": "high", "includeThoughts": True}},
        ),
        (chat_groq, "openai/gpt-oss-120b", "medium", "reasoning_effort", "medium"),
        (chat_moonshot, "kimi-k2.5", "high", "thinking", {"type": "enabled"}),
        (chat_moonshot, "kimi-k2.5", "off", "thinking", {"type": "disabled"}),
    ],
)
def test_thinking_elsewhere(make, model, setting, place, said):
    assert make(api_key="k", model=model, thinking=setting).wire.request(ASK).json[place] == said


def test_a_model_that_always_thinks_says_so():
    with pytest.warns(EllmerWarning, match="always thinks"):
        chat = claude(model="claude-fable-5", thinking="off")
    assert sent(chat)["output_config"] == {"effort": "low"}


@pytest.mark.parametrize("setting", ["much", -1, True, 1.5])
def test_a_setting_that_there_is_not(setting):
    with pytest.raises(UsageError, match=r"thinking= (of params\(\) )?must be"):
        claude(thinking=setting)


def test_two_settings_of_one_thing():
    with pytest.raises(UsageError, match="not both"):
        claude(thinking="low", params=params(reasoning_effort="high"))


def test_a_budget_leaves_room_for_the_answer():
    with pytest.warns(EllmerWarning, match="half of max_tokens"):
        chat = claude(model="claude-haiku-4-5", params=params(reasoning_tokens=8000, max_tokens=4000))
    assert sent(chat)["thinking"]["budget_tokens"] == 2000


def test_families_on_bedrock():
    assert profile_of(AWSBedrock(model="us.anthropic.claude-sonnet-5")).refuses
    assert not profile_of(AWSBedrock(model="us.anthropic.claude-sonnet-5")).fields
    assert profile_of(AWSBedrock(model="openai.gpt-oss-20b-1:0")).images == ()
    assert "temperature" in profile_of(AWSBedrock(model="global.xai.grok-4.6")).refuses
    assert "temperature" not in profile_of(AWSBedrock(model="us.amazon.nova-pro-v1:0")).refuses


def test_the_rows_of_a_provider_are_those_that_name_it():
    providers = {name for row in rows() for name in row["provider"]}

    assert {"OpenAI", "Anthropic", "AWS/Bedrock"} <= providers
    for provider in providers:
        named = [row for row in rows(provider) if provider in row["provider"]]
        assert named == [row for row in rows() if provider in row["provider"]]


RESPONSES_AND_CHAT = [(OpenAI, "openai-responses"), (OpenAICompletions, "openai-chat")]


@pytest.mark.parametrize("model", ["gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol", "gpt-7"])
def test_newer_models_always_think_and_call_tools_over_responses_only(model):
    responses, chat = (profile_of(wire(model=model)) for wire, _ in RESPONSES_AND_CHAT)

    assert responses.efforts == ("low", "medium", "high", "xhigh", "max")
    assert chat.efforts == ("low", "medium", "high", "xhigh")
    assert {"temperature", "top_p", "stop_sequences"} <= set(responses.refuses) & set(chat.refuses)
    assert (responses.tools, chat.tools) == (True, False)


@pytest.mark.parametrize("model", ["gpt-6-sol", "gpt-6-luna", "gpt-5.6-terra"])
def test_models_that_can_do_without_thinking_call_tools_over_chat_without_it(model):
    responses, chat = (profile_of(wire(model=model)) for wire, _ in RESPONSES_AND_CHAT)

    assert responses.efforts == ("none", "low", "medium", "high", "xhigh", "max")
    assert chat.efforts == ("none", "low", "medium", "high", "xhigh")
    assert (responses.tools, chat.tools) == (True, True)
    assert chat.with_tools == {"reasoning_effort": "none"}
    assert "temperature" not in responses.refuses
    assert "temperature" in responses.refuses_thinking


@pytest.mark.parametrize(
    ("wire", "model", "reads"),
    [
        (Qwen, "qwen3.8-max", True),
        (Qwen, "qwen3-max", False),
        (Together, "meta-llama/Llama-3.2-11B-Vision-Instruct-Turbo", True),
        (Together, "meta-llama/Llama-3.3-70B-Instruct-Turbo", False),
        (Cerebras, "gemma-4-31b", True),
        (Cerebras, "gpt-oss-120b", False),
    ],
)
def test_images_are_refused_where_the_model_reads_none(wire, model, reads):
    chat = wire(model=model)
    image = ContentImageInline("image/png", "iVBORw0KGgo=")

    assert bool(replace(chat, profile=profile_of(chat)).objection(image)) is not reads


# --- versions of an API ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "claude-haiku-4-5"])
def test_the_newest_version_has_no_temperature_and_an_older_one_keeps_it(model):
    with pytest.warns(EllmerWarning, match="temperature is left out, because version 2026-10-21 of the API"):
        newest = claude(model=model, params=params(temperature=0.2))
    assert newest.wire.request(ASK).headers["anthropic-version"] == "2026-10-21"
    assert "temperature" not in sent(newest)
    for older in ({"api_version": "2023-06-01"}, {"api_headers": {"anthropic-version": "2023-06-01"}}):
        chat = claude(model=model, params=params(temperature=0.2), **older)
        assert chat.wire.request(ASK).headers["anthropic-version"] == "2023-06-01"
        assert sent(chat)["temperature"] == 0.2


def test_a_tool_that_chat_completions_does_not_take_is_sent_to_responses():
    def add(x: int, y: int) -> int:
        """Adds."""
        return x + y

    chat = chat_openai_completions(model="gpt-6-astra", api_key="k")
    chat.register_tool(add)
    with pytest.raises(UsageError, match=r"does not support tools: .* add .*use chat_openai\(\)"):
        chat.chat("2 + 3?")
