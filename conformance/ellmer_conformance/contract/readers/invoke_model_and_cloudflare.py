"""Bodies of one format at the endpoint of another: Bedrock's InvokeModel, Cloudflare's own endpoint, and other
versions of an API.

Bedrock passes InvokeModel's body to the model unchanged. Claude's is Anthropic's, Nova's is that of Converse, and
those of newer models of OpenAI, Mistral and AI21 are Chat Completions. A plain prompt is not a conversation.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from ..observed.exchange import Json
from . import cohere_v1, gemini_interactions

#: Wire, provider and model of a request; or, in words, why there is nothing to judge.
Hosted = tuple[str, str, str] | str

#: The wire format that another version of an API counts as, and whose rules are its own.
VERSIONS = {
    "cohere-v1": ("cohere", cohere_v1.PROVIDER),
    "gemini-interactions": ("gemini", gemini_interactions.PROVIDER),
}
_MODEL = re.compile(r"/model/(?P<model>[^/]+)/invoke")
_CLAUDE = re.compile(r"anthropic\.(claude.*)")


def hosted(wire: str, url: str, body: Json) -> Hosted:
    """Returns the content of a request to such an endpoint."""
    if version := VERSIONS.get(wire):
        return *version, str(body.get("model") or body.get("agent") or "")
    path = urlsplit(url).path
    if not isinstance(body.get("messages"), list):
        prompted = any(key in body for key in ("prompt", "inputText", "message"))
        return f"a bare prompt ({wire})" if prompted else "not a chat request"
    if wire == "cloudflare-run":
        return "openai-chat", "cloudflare", unquote(path.partition("/ai/run/")[2])
    match = _MODEL.search(path)
    model = unquote(match["model"]) if match else ""
    if claude := _CLAUDE.search(model):
        return "anthropic", "bedrock", claude[1]
    return (
        ("bedrock", "bedrock-invoke", model)
        if "amazon.nova" in model
        else ("openai-chat", "bedrock-invoke", model)
    )
