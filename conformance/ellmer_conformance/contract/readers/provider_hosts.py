"""Finds the provider of a host name."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["host_of", "provider_of"]

_HOSTS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "openai.azure.us": "azure",
    "cognitiveservices.azure.com": "azure",
    "services.ai.azure.com": "azure-foundry",
    "models.inference.ai.azure.com": "github",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "vertex",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "api.x.ai": "xai",
    "mistral.ai": "mistral",
    "ollama.com": "ollama",
    "api.together.xyz": "together",
    "api.together.ai": "together",
    "api.perplexity.ai": "perplexity",
    "huggingface.co": "huggingface",
    "api.cerebras.ai": "cerebras",
    "inference.baseten.co": "baseten",
    "api.doubleword.ai": "doubleword",
    "api.fireworks.ai": "fireworks",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.xiaomimimo.com": "xiaomi",
    "aliyuncs.com": "qwen",
    "api.z.ai": "zai",
    "api.cloudflare.com": "cloudflare",
    "api.portkey.ai": "portkey",
    "cloud.databricks.com": "databricks",
    "azuredatabricks.net": "databricks",
    "snowflakecomputing.com": "snowflake",
    "models.github.ai": "github",
    "api.githubcopilot.com": "copilot",
    "amazonaws.com": "bedrock",
    "amazonaws.com.cn": "bedrock",
    "api.aws": "bedrock",
}


_NAMED = {"gemini": "google", "aws_bedrock": "bedrock", "mistralai": "mistral", "googleai": "google"}


def host_of(provider: str) -> str:
    """Returns a host of a provider, or `""` for an unknown one."""
    name = _NAMED.get(provider, provider)
    return next((host for host, known in _HOSTS.items() if known == name), "")


@lru_cache(1024)
def provider_of(host: str) -> str:
    """Returns `groq` for `api.groq.com`, and the host itself if it is unknown."""
    name, _, port = host.lower().partition(":")
    for known, provider in _HOSTS.items():
        if name == known or name.endswith((f".{known}", f"-{known}")):
            return provider
    for own in ("llamacpp", "vllm"):  # a local server is named by its host name
        if own in name:
            return own
    return "ollama" if port == "11434" else name
