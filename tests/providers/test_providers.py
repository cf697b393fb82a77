"""Providers: their addresses, their key variables, and their declared features."""

import json

import pytest
from wires.every_provider import DRAW, ONE, PDF, PLACES, PNG, SHAPE, WIRES, body, made, modules

import ellmer_core
from ellmer_core.contents.content import ContentText, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.errors import ContentError, UsageError
from ellmer_core.providers._construction import chat

pytestmark = pytest.mark.usefixtures("variables")

#: The name: as printed, the default model, where its key is, where a request goes.
PROVIDERS = {
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
        "databricks-claude-sonnet-5",
        "DATABRICKS_TOKEN",
        "x.cloud.databricks.com/serving-endpoints/chat/completions",
    ),
    "deepseek": ("DeepSeek", "deepseek-flash", "DEEPSEEK_API_KEY", "api.deepseek.com/chat/completions"),
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
    "moonshot": ("Moonshot AI", "kimi-k2.6", "MOONSHOT_API_KEY", "api.moonshot.ai/v1/chat/completions"),
    "openai": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/responses"),
    "openai_completions": ("OpenAI", "gpt-5.6-terra", "OPENAI_API_KEY", "api.openai.com/v1/chat/completions"),
    "openrouter": (
        "OpenRouter",
        "openai/gpt-5.6-terra",
        "OPENROUTER_API_KEY",
        "openrouter.ai/api/v1/chat/completions",
    ),
    "perplexity": ("Perplexity", "perplexity/sonar", "PERPLEXITY_API_KEY", "api.perplexity.ai/v1/responses"),
    "posit": ("Posit", "claude-sonnet-5", "POSIT_AI_TOKEN", "gateway.posit.ai/anthropic/v1/messages"),
    "portkey": ("Portkey", "", "PORTKEY_API_KEY", "api.portkey.ai/v1/chat/completions"),
    "qwen": (
        "Alibaba/Qwen",
        "qwen3.8-max",
        "DASHSCOPE_API_KEY",
        "dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
    ),
    "snowflake": (
        "Snowflake",
        "claude-sonnet-5",
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


def test_every_provider_is_listed_here():
    assert {m.__name__.rpartition(".")[2] for m in modules()} == {*PROVIDERS, *SERVERS, *OTHERS}


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider(variables, name):
    printed, model, variable, url = PROVIDERS[name]
    variables.setenv(variable, "secret-of-this-provider")
    wire = made(name if model else f"{name}/m/n")
    request = wire.request([UserTurn("Hi")])

    assert (wire.provider, wire.model) == (printed, model or "m/n")
    assert request.url == f"https://{url}"
    assert "secret-of-this-provider" in " ".join(request.headers.values())
    assert "secret-of-this-provider" not in repr(request) + repr(wire)


@pytest.mark.parametrize("name", [name for name in PROVIDERS if name != "aws_bedrock"])
def test_a_missing_key_is_named(name):
    with pytest.raises(UsageError, match=PROVIDERS[name][2]):
        made(f"{name}/m")


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_of_ones_own(variables, name):
    printed, url, prefix = SERVERS[name]
    wire = made(f"{name}/m")

    assert wire.provider == printed
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
    provider = {"AZURE": "azure_openai", "CLOUDFLARE": "cloudflare", "DATABRICKS": "databricks"}.get(
        variable.partition("_")[0], {"GOOGLE_CLOUD_PROJECT": "google_vertex"}.get(variable, "snowflake")
    )
    variables.delenv(variable)
    with pytest.raises(UsageError, match=f"Give .*=, or set the environment variable {variable}"):
        made(f"{provider}/m", api_key="k")
    assert made(f"{provider}/m", api_key="k", base_url="http://x").base_url == "http://x"


def test_a_base_url_has_no_query():
    with pytest.raises(UsageError, match=r"have no query: https://example.com/v1$"):
        ellmer_core.chat_openai(model="m", api_key="k", base_url="https://example.com/v1?key=1")


# What is declared is held -----------------------------------------------------------------------------------

every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.__name__)


@every_wire
def test_media_of_a_user_are_sent_or_refused_before_sending(wire):
    for content, taken in ((PNG, wire.supports.images), (PDF, wire.supports.pdfs)):
        turn = UserTurn([ContentText("See:"), content])
        if taken:
            assert content.data in json.dumps(wire(model="m").message(turn))
        else:
            with pytest.raises(ContentError, match=f"{wire.provider}'s m does not accept (image|PDF)"):
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
        with pytest.raises(UsageError, match="does not accept media inside tool results"):
            wire(model="m", tool_media="native")


@every_wire
def test_tools_are_sent_or_refused(wire):
    if wire.supports.tools:
        assert "draw" in json.dumps(body(wire(model="m"), tools=[DRAW]))
    else:
        with pytest.raises(UsageError, match=r"do not support tools: do not register 'draw'"):
            body(wire(model="m"), tools=[DRAW])


@every_wire
def test_structured_output_is_asked_for_by_schema_or_in_words(wire):
    sent = body(wire(model="gpt-4.1"), type=SHAPE)

    assert "integer" in json.dumps(sent)
    if not wire.supports.structured:
        assert sent["response_format"] == {"type": "json_object"}
        assert "JSON Schema" in sent["messages"][-1]["content"]
