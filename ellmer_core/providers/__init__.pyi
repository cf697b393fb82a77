# Written by `python -m ellmer_core.providers._stub`.

from collections.abc import Callable
from typing import Any

from .anthropic import chat_anthropic as chat_anthropic
from .anthropic import chat_anthropic as chat_claude
from .aws_bedrock import chat_aws_bedrock as chat_aws_bedrock
from .azure_openai import chat_azure_openai as chat_azure_openai
from .cerebras import chat_cerebras as chat_cerebras
from .cloudflare import chat_cloudflare as chat_cloudflare
from .cohere import chat_cohere as chat_cohere
from .databricks import chat_databricks as chat_databricks
from .deepseek import chat_deepseek as chat_deepseek
from .fireworks import chat_fireworks as chat_fireworks
from .github import chat_github as chat_github
from .google_gemini import chat_google_gemini as chat_google_gemini
from .google_vertex import chat_google_vertex as chat_google_vertex
from .groq import chat_groq as chat_groq
from .huggingface import chat_huggingface as chat_huggingface
from .lmstudio import chat_lmstudio as chat_lmstudio
from .mistral import chat_mistral as chat_mistral
from .moonshot import chat_moonshot as chat_moonshot
from .ollama import chat_ollama as chat_ollama
from .openai import chat_openai as chat_openai
from .openai import chat_openai as chat_openai_responses
from .openai_compatible import chat_openai_compatible as chat_openai_compatible
from .openai_completions import chat_openai_completions as chat_openai_completions
from .openrouter import chat_openrouter as chat_openrouter
from .perplexity import chat_perplexity as chat_perplexity
from .portkey import chat_portkey as chat_portkey
from .posit import chat_posit as chat_posit
from .qwen import chat_qwen as chat_qwen
from .snowflake import chat_snowflake as chat_snowflake
from .together import chat_together as chat_together
from .vllm import chat_vllm as chat_vllm
from .xai import chat_xai as chat_xai
from .zai import chat_zai as chat_zai

models_anthropic: Callable[..., list[dict[str, Any]]]
models_aws_bedrock: Callable[..., list[dict[str, Any]]]
models_azure_openai: Callable[..., list[dict[str, Any]]]
models_cerebras: Callable[..., list[dict[str, Any]]]
models_claude: Callable[..., list[dict[str, Any]]]
models_cloudflare: Callable[..., list[dict[str, Any]]]
models_cohere: Callable[..., list[dict[str, Any]]]
models_databricks: Callable[..., list[dict[str, Any]]]
models_deepseek: Callable[..., list[dict[str, Any]]]
models_fireworks: Callable[..., list[dict[str, Any]]]
models_github: Callable[..., list[dict[str, Any]]]
models_google_gemini: Callable[..., list[dict[str, Any]]]
models_google_vertex: Callable[..., list[dict[str, Any]]]
models_groq: Callable[..., list[dict[str, Any]]]
models_huggingface: Callable[..., list[dict[str, Any]]]
models_lmstudio: Callable[..., list[dict[str, Any]]]
models_mistral: Callable[..., list[dict[str, Any]]]
models_moonshot: Callable[..., list[dict[str, Any]]]
models_ollama: Callable[..., list[dict[str, Any]]]
models_openai: Callable[..., list[dict[str, Any]]]
models_openai_compatible: Callable[..., list[dict[str, Any]]]
models_openai_completions: Callable[..., list[dict[str, Any]]]
models_openai_responses: Callable[..., list[dict[str, Any]]]
models_openrouter: Callable[..., list[dict[str, Any]]]
models_perplexity: Callable[..., list[dict[str, Any]]]
models_portkey: Callable[..., list[dict[str, Any]]]
models_posit: Callable[..., list[dict[str, Any]]]
models_qwen: Callable[..., list[dict[str, Any]]]
models_snowflake: Callable[..., list[dict[str, Any]]]
models_together: Callable[..., list[dict[str, Any]]]
models_vllm: Callable[..., list[dict[str, Any]]]
models_xai: Callable[..., list[dict[str, Any]]]
models_zai: Callable[..., list[dict[str, Any]]]

ALIASES: dict[str, str]

__all__ = [
    "chat_anthropic",
    "chat_aws_bedrock",
    "chat_azure_openai",
    "chat_cerebras",
    "chat_claude",
    "chat_cloudflare",
    "chat_cohere",
    "chat_databricks",
    "chat_deepseek",
    "chat_fireworks",
    "chat_github",
    "chat_google_gemini",
    "chat_google_vertex",
    "chat_groq",
    "chat_huggingface",
    "chat_lmstudio",
    "chat_mistral",
    "chat_moonshot",
    "chat_ollama",
    "chat_openai",
    "chat_openai_compatible",
    "chat_openai_completions",
    "chat_openai_responses",
    "chat_openrouter",
    "chat_perplexity",
    "chat_portkey",
    "chat_posit",
    "chat_qwen",
    "chat_snowflake",
    "chat_together",
    "chat_vllm",
    "chat_xai",
    "chat_zai",
    "models_anthropic",
    "models_aws_bedrock",
    "models_azure_openai",
    "models_cerebras",
    "models_claude",
    "models_cloudflare",
    "models_cohere",
    "models_databricks",
    "models_deepseek",
    "models_fireworks",
    "models_github",
    "models_google_gemini",
    "models_google_vertex",
    "models_groq",
    "models_huggingface",
    "models_lmstudio",
    "models_mistral",
    "models_moonshot",
    "models_ollama",
    "models_openai",
    "models_openai_compatible",
    "models_openai_completions",
    "models_openai_responses",
    "models_openrouter",
    "models_perplexity",
    "models_portkey",
    "models_posit",
    "models_qwen",
    "models_snowflake",
    "models_together",
    "models_vllm",
    "models_xai",
    "models_zai",
]
