"""Vendors: where they are, what their keys are called, what they declare, and what each does differently."""

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import ellmer_core
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUploaded,
)
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult, ToolDef
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import ContentError, UsageError
from ellmer_core.providers import _cloud
from ellmer_core.providers._construction import chat
from ellmer_core.schemas.type_values import TypeObject
from ellmer_core.schemas.types import TypeBasic
from ellmer_core.wire.base import Wire

PNG = ContentImageInline("image/png", "iVBORw0=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "a.pdf")
ONE = ContentToolRequest("call_1", "draw", {"n": 1})
SHAPE = TypeObject(properties={"n": TypeBasic(type="integer"), "why": TypeBasic(required=False)})
DRAW = ToolDef(lambda n: n, "draw", "Draws.", SHAPE)

#: Variables that are not keys.
PLACES = {
    "AWS_REGION": "eu-west-1",
    "AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/",
    "CLOUDFLARE_ACCOUNT_ID": "acc",
    "DATABRICKS_HOST": "https://x.cloud.databricks.com/",
    "GOOGLE_CLOUD_PROJECT": "proj",
    "SNOWFLAKE_ACCOUNT": "org-acc",
}
#: The name: as printed, the default model, where its key is, where a request goes.
VENDORS = {
    "anthropic": ("Anthropic", "claude-sonnet-5", "ANTHROPIC_API_KEY", "api.anthropic.com/v1/messages"),
    "aws_bedrock": (
        "AWS/Bedrock",
        "us.anthropic.claude-sonnet-5",
        "AWS_BEARER_TOKEN_BEDROCK",
        "bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-sonnet-5/converse",
    ),
    "azure_openai": (
        "Azure/OpenAI",
        "",
        "AZURE_OPENAI_API_KEY",
        "res.openai.azure.com/openai/v1/chat/completions",
    ),
    "cerebras": ("Cerebras", "gpt-oss-120b", "CEREBRAS_API_KEY", "api.cerebras.ai/v1/chat/completions"),
    "cloudflare": (
        "Cloudflare",
        "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
        "CLOUDFLARE_API_TOKEN",
        "api.cloudflare.com/client/v4/accounts/acc/ai/v1/chat/completions",
    ),
    "cohere": ("Cohere", "command-a-03-2025", "CO_API_KEY", "api.cohere.com/v2/chat"),
    "databricks": (
        "Databricks",
        "databricks-claude-sonnet-4-5",
        "DATABRICKS_TOKEN",
        "x.cloud.databricks.com/serving-endpoints/chat/completions",
    ),
    "deepseek": ("DeepSeek", "deepseek-v4-flash", "DEEPSEEK_API_KEY", "api.deepseek.com/chat/completions"),
    "fireworks": (
        "Fireworks AI",
        "accounts/fireworks/models/gpt-oss-120b",
        "FIREWORKS_API_KEY",
        "api.fireworks.ai/inference/v1/chat/completions",
    ),
    "google_gemini": (
        "Google/Gemini",
        "gemini-3.5-flash",
        "GOOGLE_API_KEY",
        "generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash:generateContent",
    ),
    "groq": ("Groq", "openai/gpt-oss-120b", "GROQ_API_KEY", "api.groq.com/openai/v1/chat/completions"),
    "huggingface": (
        "Hugging Face",
        "openai/gpt-oss-120b",
        "HF_TOKEN",
        "router.huggingface.co/v1/chat/completions",
    ),
    "mistral": ("Mistral", "mistral-large-latest", "MISTRAL_API_KEY", "api.mistral.ai/v1/chat/completions"),
    "moonshot": ("Moonshot AI", "kimi-k2.5", "MOONSHOT_API_KEY", "api.moonshot.ai/v1/chat/completions"),
    "openai": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/responses"),
    "openai_completions": ("OpenAI", "gpt-4.1", "OPENAI_API_KEY", "api.openai.com/v1/chat/completions"),
    "openrouter": (
        "OpenRouter",
        "openai/gpt-5.6-terra",
        "OPENROUTER_API_KEY",
        "openrouter.ai/api/v1/chat/completions",
    ),
    "perplexity": ("Perplexity", "sonar", "PERPLEXITY_API_KEY", "api.perplexity.ai/chat/completions"),
    "portkey": ("Portkey", "", "PORTKEY_API_KEY", "api.portkey.ai/v1/chat/completions"),
    "qwen": (
        "Alibaba/Qwen",
        "qwen3-max",
        "DASHSCOPE_API_KEY",
        "dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
    ),
    "snowflake": (
        "Snowflake",
        "claude-sonnet-4-5",
        "SNOWFLAKE_PAT",
        "org-acc.snowflakecomputing.com/api/v2/cortex/v1/chat/completions",
    ),
    "together": (
        "Together AI",
        "openai/gpt-oss-120b",
        "TOGETHER_API_KEY",
        "api.together.xyz/v1/chat/completions",
    ),
    "xai": ("xAI", "grok-4.3", "XAI_API_KEY", "api.x.ai/v1/chat/completions"),
    "zai": ("Z.ai", "glm-4.7", "ZAI_API_KEY", "api.z.ai/api/paas/v4/chat/completions"),
}
#: Servers of one's own: as printed, where a request goes, the variable that says otherwise. No default model.
SERVERS = {
    "lmstudio": ("LM Studio", "http://localhost:1234/v1/chat/completions", "LMSTUDIO"),
    "ollama": ("Ollama", "http://localhost:11434/api/chat", "OLLAMA"),
    "vllm": ("vLLM", "http://localhost:8000/v1/chat/completions", "VLLM"),
}
OTHERS = {"github", "google_vertex", "openai_compatible"}  # tested one by one


def modules():
    folder = Path(ellmer_core.__file__).with_name("providers")
    return [import_module(f"ellmer_core.providers.{path.stem}") for path in sorted(folder.glob("[!_]*.py"))]


WIRES = [
    value
    for module in modules()
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Wire) and value.__module__ == module.__name__
]


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    """None but those of `PLACES`."""
    for wire in WIRES:
        for name in (*wire.key_vars, wire.base_url_var or "-"):
            monkeypatch.delenv(name, raising=False)
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def made(name, **options):
    return chat(name, echo="none", **options).wire


def body(wire, *turns, tools=(), **options):
    return wire.request(turns or [UserTurn("Hi")], tools, **options).json


def test_every_vendor_is_listed_here():
    assert {m.__name__.rpartition(".")[2] for m in modules()} == {*VENDORS, *SERVERS, *OTHERS}


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendor(variables, name):
    printed, model, variable, url = VENDORS[name]
    variables.setenv(variable, "secret-of-this-vendor")
    wire = made(name if model else f"{name}/m/n")
    request = wire.request([UserTurn("Hi")])

    assert (wire.vendor, wire.model) == (printed, model or "m/n")
    assert request.url == f"https://{url}"
    assert "secret-of-this-vendor" in " ".join(request.headers.values())
    assert "secret-of-this-vendor" not in repr(request) + repr(wire)


@pytest.mark.parametrize("name", [name for name in VENDORS if name != "aws_bedrock"])
def test_a_missing_key_is_named(name):
    with pytest.raises(UsageError, match=VENDORS[name][2]):
        made(f"{name}/m")


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_of_ones_own(variables, name):
    printed, url, prefix = SERVERS[name]
    wire = made(f"{name}/m")

    assert wire.vendor == printed
    assert wire.request([UserTurn("Hi")]).url == url
    assert wire.headers() == {}
    variables.setenv(f"{prefix}_API_KEY", "k")
    variables.setenv(f"{prefix}_BASE_URL", "http://box:9")
    assert made(f"{name}/m").headers() == {"authorization": "Bearer k"}
    assert made(f"{name}/m").request([UserTurn("Hi")]).url.startswith("http://box:9/")
    with pytest.raises(UsageError, match="no default model"):
        made(name)


@pytest.mark.parametrize("name", ["github", "github/openai/gpt-4.1"])
def test_github_models_are_no_more(name):
    with pytest.raises(UsageError, match="retired on 30 July 2026"):
        chat(name)


@pytest.mark.parametrize("variable", [name for name in PLACES if name != "AWS_REGION"])
def test_a_missing_setting_is_named(variables, variable):
    vendor = {"AZURE": "azure_openai", "CLOUDFLARE": "cloudflare", "DATABRICKS": "databricks"}.get(
        variable.partition("_")[0], {"GOOGLE_CLOUD_PROJECT": "google_vertex"}.get(variable, "snowflake")
    )
    variables.delenv(variable)
    with pytest.raises(UsageError, match=f"Give .*=, or set the environment variable {variable}"):
        made(f"{vendor}/m", api_key="k")
    assert made(f"{vendor}/m", api_key="k", base_url="http://x").base_url == "http://x"


# What is declared is held ---------------------------------------------------------------------------------------

every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.__name__)


@every_wire
def test_media_of_a_user_are_sent_or_refused_before_sending(wire):
    for content, taken in ((PNG, wire.supports.images), (PDF, wire.supports.pdfs)):
        turn = UserTurn([ContentText("See:"), content])
        if taken:
            assert content.data in json.dumps(wire(model="m").message(turn))
        else:
            with pytest.raises(ContentError, match=f"{wire.vendor}'s m takes no (image|PDF)"):
                wire(model="m").message(turn)


@every_wire
def test_media_of_a_tool_are_sent_or_named(wire):
    turn = UserTurn([ContentToolResult(["A cat:", PNG, PDF], request=ONE)])
    sent = json.dumps(wire(model="m").messages([UserTurn("Hi"), AssistantTurn([ONE]), turn]))

    assert (PNG.data in sent) is wire.supports.images
    assert (PDF.data in sent) is wire.supports.pdfs
    assert "A cat:" in sent
    assert ("cannot be shown" in sent) is not (wire.supports.images and wire.supports.pdfs)


@every_wire
def test_media_stay_inside_results_or_that_is_refused(wire):
    if wire.supports.native_tool_media:
        turn = UserTurn([ContentToolResult(PNG, request=ONE)])
        assert PNG.data in json.dumps(wire(model="claude-or-gemini-3", tool_media="native").message(turn))
    else:
        with pytest.raises(UsageError, match="takes no media inside tool results"):
            wire(model="m", tool_media="native")


@every_wire
def test_tools_are_sent_or_refused(wire):
    if wire.supports.tools:
        assert "draw" in json.dumps(body(wire(model="m"), tools=[DRAW]))
    else:
        with pytest.raises(UsageError, match=r"call no tools: do not register 'draw'"):
            body(wire(model="m"), tools=[DRAW])


@every_wire
def test_structured_output_is_asked_for_by_schema_or_in_words(wire):
    sent = body(wire(model="gpt-4.1"), type=SHAPE)

    assert "integer" in json.dumps(sent)
    if not wire.supports.structured:
        assert sent["response_format"] == {"type": "json_object"}
        assert "JSON Schema" in sent["messages"][-1]["content"]


# One by one -----------------------------------------------------------------------------------------------------

THOUGHT = AssistantTurn([ContentThinking("Hm."), ONE])


def answer(**message):
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


CALLS = [{"id": "c1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}]


def test_groq_gets_no_field_that_it_does_not_know():
    wire = made("groq", api_key="k")
    turn = wire.turn(answer(reasoning="Hm.", tool_calls=CALLS, executed_tools=[]))

    assert turn.contents[0].thinking == "Hm."
    assert wire.message(turn) == [{"role": "assistant", "content": None, "tool_calls": CALLS}]


@pytest.mark.parametrize(("name", "filler"), [("deepseek", ""), ("moonshot", ".")])
def test_reasoning_goes_back_with_every_call(name, filler):
    wire = made(name, api_key="k")
    turn = wire.turn(answer(reasoning_content="Hm.", tool_calls=CALLS))

    assert wire.message(turn)[0]["reasoning_content"] == "Hm."
    assert wire.message(THOUGHT)[0]["reasoning_content"] == filler
    assert "reasoning_content" not in wire.message(AssistantTurn("a"))[0]


def test_openrouter_lets_reasoning_and_media_through():
    wire = made("openrouter", api_key="k", params={"reasoning_effort": "low", "max_tokens": 9})
    details = [{"type": "reasoning.encrypted", "data": "AA", "index": 0}]
    turn = wire.turn(answer(reasoning_details=details, tool_calls=CALLS))

    assert wire.message(turn)[0]["reasoning_details"] == details
    sent = body(wire)
    assert (sent["reasoning"], sent["max_tokens"]) == ({"effort": "low"}, 9)


def test_tools_of_other_vendors_have_plain_schemas():
    function = body(made("xai", api_key="k"), tools=[DRAW])["tools"][0]["function"]

    assert "strict" not in function
    assert function["parameters"]["required"] == ["n"]
    assert body(made("openai_completions", api_key="k"), tools=[DRAW])["tools"][0]["function"]["strict"]


@pytest.mark.parametrize("name", ["vllm", "lmstudio", "perplexity"])
def test_roles_take_turns(name):
    wire = made(f"{name}/m", api_key="k")
    turns = [UserTurn("a"), UserTurn([ContentText("b"), PNG]), AssistantTurn("c"), UserTurn("d")]
    messages = wire.messages(turns)

    assert [m["role"] for m in messages] == ["user", "assistant", "user"]
    assert [part["type"] for part in messages[0]["content"]] == ["text", "text", "image_url"]
    assert messages[2]["content"] == "d"


def test_perplexity_starts_with_the_user():
    wire = made("perplexity", api_key="k")
    turns = [SystemTurn("s"), AssistantTurn("a"), UserTurn("u"), AssistantTurn("b"), UserTurn("v")]

    assert [m["content"] for m in wire.messages(turns)] == ["s", "u", "b", "v"]


@pytest.mark.parametrize(("name", "asked"), [("databricks", False), ("mistral", False), ("groq", True)])
def test_usage_of_a_stream_is_asked_for_where_it_has_to_be(name, asked):
    assert ("stream_options" in body(made(name, api_key="k"), stream=True)) is asked


def test_portkey_has_a_header_of_its_own():
    assert made("portkey/@openai/gpt", api_key="k").headers() == {"x-portkey-api-key": "k"}


def test_azure_has_keys_and_tokens_and_two_kinds_of_url():
    assert made("azure_openai/dep", api_key="k").headers() == {"api-key": "k"}
    entra = chat("azure_openai/dep", credentials=lambda: "token", api_version="2024-10-21").wire
    request = entra.request([UserTurn("Hi")])

    assert request.headers == {"authorization": "Bearer token"}
    assert request.url == (
        "https://res.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    )


# Mistral --------------------------------------------------------------------------------------------------------

MISTRAL = made("mistral", api_key="k")


@pytest.mark.parametrize(("id", "kept"), [("Ah0BFgzqX", True), ("call_1", False), ("x" * 40, False)])
def test_mistral_ids_have_nine_characters_on_both_sides(id, kept):
    call = ContentToolRequest(id, "draw")
    asked, told = MISTRAL.messages([AssistantTurn([call]), UserTurn([ContentToolResult("x", request=call)])])

    assert asked["tool_calls"][0]["id"] == told["tool_call_id"]
    assert (told["tool_call_id"] == id) is kept
    assert len(told["tool_call_id"]) == 9
    assert told["tool_call_id"].isalnum()
    assert asked["content"] == ""


def test_mistral_media():
    assert MISTRAL.content(PDF) == {
        "type": "document_url",
        "document_url": "data:application/pdf;base64,JVBERi0=",
        "document_name": "a.pdf",
    }
    assert MISTRAL.content(ContentImageRemote("https://x/y.png", "high"))["image_url"] == {
        "url": "https://x/y.png"
    }
    assert MISTRAL.content(ContentUploaded("f1", "application/pdf", "mistral")) == {
        "type": "file",
        "file_id": "f1",
    }
    with pytest.raises(ContentError):
        MISTRAL.content(ContentUploaded("f1", "application/pdf", "openai-chat"))


def test_mistral_thinking_goes_back_as_it_came():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True}
    turn = MISTRAL.turn(answer(content=[part, {"type": "text", "text": "a"}]))

    assert turn.contents[0].thinking == "Hm."
    assert MISTRAL.message(turn)[0]["content"] == [part, {"type": "text", "text": "a"}]


def test_groq_is_asked_in_words_for_data_where_there_are_tools():
    """`json mode cannot be combined with tool/function calling`"""
    groq = made("groq", api_key="k")
    with_tools, without = body(groq, tools=[DRAW], type=SHAPE), body(groq, type=SHAPE)

    assert "response_format" not in with_tools
    assert "JSON Schema" in with_tools["messages"][-1]["content"]
    assert without["response_format"]["type"] == "json_schema"
    assert without["messages"] == [{"role": "user", "content": "Hi"}]


def test_mistral_strict_order_puts_an_ok_between_tool_and_user():
    turns = [AssistantTurn([ONE]), UserTurn([ContentToolResult(PNG, request=ONE)]), UserTurn("Hi")]
    strict = chat("mistral", api_key="k", strict_order=True).wire

    assert [m["role"] for m in MISTRAL.messages(turns)] == ["assistant", "tool", "user", "user"]
    assert [m["role"] for m in strict.messages(turns)] == ["assistant", "tool", "assistant", "user", "user"]


def test_mistral_parameters():
    wire = made("mistral", api_key="k", params={"seed": 1, "max_tokens": 9})

    assert {k: v for k, v in body(wire).items() if k in {"random_seed", "max_tokens"}} == {
        "random_seed": 1,
        "max_tokens": 9,
    }


# Vertex AI ------------------------------------------------------------------------------------------------------


def vertex(**options):
    return chat("google_vertex/gemini-3-flash", credentials=lambda: "token", **options).wire


@pytest.mark.parametrize(
    ("location", "host"),
    [(None, "aiplatform"), ("global", "aiplatform"), ("europe-west4", "europe-west4-aiplatform")],
)
def test_vertex_urls(location, host):
    request = vertex(location=location).request([UserTurn("Hi")], stream=True)

    assert request.url == (
        f"https://{host}.googleapis.com/v1beta1/projects/proj/locations/{location or 'global'}"
        "/publishers/google/models/gemini-3-flash:streamGenerateContent?alt=sse"
    )
    assert request.headers == {"authorization": "Bearer token"}
    assert chat("google_vertex/m", api_key="k").wire.headers() == {"x-goog-api-key": "k"}


def test_vertex_knows_no_ids_and_fetches_files():
    call = {"functionCall": {"id": "srv", "name": "draw", "args": {}}, "thoughtSignature": "sig"}
    turn = vertex().turn({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]})
    result = UserTurn([ContentToolResult("x", request=turn.tool_requests[0])])
    photo = ContentImageRemote("gs://bucket/photo.png")

    assert '"id"' not in json.dumps(vertex().messages([turn, result]))
    assert vertex().message(turn)[0]["parts"][0]["thoughtSignature"] == "sig"
    assert vertex().content(photo) == {
        "fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/photo.png"}
    }


# Credentials that clouds keep -----------------------------------------------------------------------------------


def test_a_missing_library_is_named(variables):
    variables.setattr(_cloud, "import_module", _nothing)
    with pytest.raises(UsageError, match="pip install google-auth requests"):
        chat("google_vertex/m")
    with pytest.raises(UsageError, match="pip install botocore"):
        chat("aws_bedrock/m")


def _nothing(name):
    raise ImportError(name)


def test_aws_profiles_are_read_by_botocore(variables):
    frozen = SimpleNamespace(access_key="AKID", secret_key="s", token="t")
    found = SimpleNamespace(get_frozen_credentials=lambda: frozen)
    asked = []

    def session(profile):
        asked.append(profile)
        return SimpleNamespace(get_credentials=lambda: found if profile else None)

    variables.setattr(_cloud, "import_module", lambda _: SimpleNamespace(Session=session))
    wire = chat("aws_bedrock/m", profile="work").wire
    assert wire.credentials() == ellmer_core.AwsKeys("AKID", "s", "t")
    assert asked == ["work"]
    with pytest.raises(UsageError, match="No credentials for AWS"):
        chat("aws_bedrock/m")


def test_half_a_key_is_named(variables):
    variables.setenv("AWS_ACCESS_KEY_ID", "AKID")
    variables.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    with pytest.raises(UsageError, match="'AWS_SECRET_ACCESS_KEY' is not"):
        made("aws_bedrock/m").request([UserTurn("Hi")])


def test_google_credentials_that_are_not_there(variables):
    variables.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file.json")
    with pytest.raises(UsageError, match=r"No credentials for Google Cloud: .*/no/such/file\.json"):
        chat("google_vertex/m")


def test_google_credentials_are_refreshed_when_they_expire(variables):
    google = SimpleNamespace(valid=False, token="old")

    def refresh(_):
        google.valid, google.token = True, "new"

    google.refresh = refresh
    auth = SimpleNamespace(default=lambda scopes: (google, "proj"))
    transport = SimpleNamespace(Request=object)
    variables.setattr(
        _cloud, "import_module", {"google.auth": auth, "google.auth.transport.requests": transport}.get
    )

    assert chat("google_vertex/m").wire.headers() == {"authorization": "Bearer new"}


def test_a_base_url_has_no_query():
    with pytest.raises(UsageError, match=r"without a query: https://example.com/v1$"):
        ellmer_core.chat_openai(model="m", api_key="k", base_url="https://example.com/v1?key=1")
