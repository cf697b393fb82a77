"""Providers that run models of other makers."""

from __future__ import annotations

from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "provider": ["OpenRouter"],
        "model": "",
        "off": {"reasoning": {"enabled": False}},
        "exclusive": [["reasoning_effort", "reasoning_tokens"]],
        "efforts": ["none", "minimal", "low", "medium", "high", "xhigh"],
        "budget": [1024, 32000],
        "source": "https://openrouter.ai/docs/use-cases/reasoning-tokens",
    },
    {
        "provider": ["Cerebras"],
        "model": "",
        "refuses": ["top_k", "frequency_penalty", "presence_penalty"],
        "efforts": [],
        "off": {},
        "images": [],
        "audio": False,
        "source": "https://inference-docs.cerebras.ai/api-reference/chat-completions",
    },
    {
        "provider": ["Cerebras"],
        "model": "gemma-4-31b",
        "images": ["image/png", "image/jpeg"],
        "source": "https://inference-docs.cerebras.ai/capabilities/image-inputs",
    },
    {
        "provider": ["Cerebras"],
        "model": "gpt-oss",
        "thinks": True,
        "efforts": ["low", "medium", "high"],
        "source": "https://inference-docs.cerebras.ai/capabilities/reasoning",
    },
    {
        "provider": ["Databricks", "Snowflake"],
        "model": "claude-(opus-4-[78]|[a-z]+-[5-9])",
        "refuses": ["temperature", "top_p", "top_k"],
        "source": "https://platform.claude.com/docs/en/about-claude/models/migration-guide",
    },
    {
        "provider": ["Ollama"],
        "model": "",
        "efforts": [],
        "off": {},
        "source": "https://docs.ollama.com/capabilities/thinking",
    },
    {
        "provider": ["Ollama"],
        "model": "gpt-oss",
        "thinks": True,
        "efforts": ["low", "medium", "high"],
        "source": "https://docs.ollama.com/capabilities/thinking",
    },
    {
        "provider": ["Ollama"],
        "model": r"^(qwen3(?!-coder|.*instruct)|deepseek-(r1|v3\.1|v4)|magistral|gemma4|glm-|kimi-|nemotron-3)",
        "thinks": True,
        "off": {"think": False},
        "levels": {
            "low": {"think": True},
            "medium": {"think": True},
            "high": {"think": True},
            "max": {"think": True},
        },
        "source": "https://docs.ollama.com/capabilities/thinking",
    },
    {
        "provider": ["Ollama"],
        "model": "^(gemma3|llama[23](:|$)|phi4(:|$)|smollm2:360m)",
        "tools": False,
        "source": "https://github.com/ollama/ollama/issues/13578",
    },
    # They always reason.
    {
        "provider": ["OpenRouter"],
        "model": r"^(google/gemini-3\.7-flash|minimax/minimax-m2\.5|stealth/ox-alpha|stepfun/step-3\.5-flash)",
        "off": None,
        "efforts": ["minimal", "low", "medium", "high", "xhigh"],
        "source": "https://github.com/musistudio/claude-code-router/issues/1215",
    },
    {
        "provider": ["OpenRouter"],
        "model": "gemma-3-(4|12)b",
        "tools": False,
        "source": "https://openrouter.ai/docs/features/tool-calling",
    },
    {
        "provider": ["OpenRouter"],
        "model": "^perplexity/",
        "tools": False,
        "source": "https://github.com/home-assistant/home-assistant.io/issues/41145",
    },
    {
        "provider": ["OpenRouter"],
        "model": "llama-guard-4",
        "tools": False,
        "source": "https://github.com/Kilo-Org/kilocode/issues/9006",
    },
    {
        "provider": ["Together AI"],
        "model": "cogito|trinity|rnj|Qwen3-235B|Llama-[23](?!.*Vision)|Mixtral|Mistral-7B|gpt-oss",
        "images": [],
        "audio": False,
        "source": "https://docs.together.ai/docs/vision-overview",
    },
    {
        "provider": ["Together AI"],
        "model": "gemma-3|cogito",
        "refuses": ["log_probs"],
        "tools": False,
        "source": "https://docs.together.ai/docs/function-calling",
    },
    {
        "provider": ["Hugging Face"],
        "model": r"Qwen3(?!.*VL|\.[5-9])|gpt-oss|Llama-3|DeepSeek-V3",
        "images": [],
        "source": "https://huggingface.co/docs/inference-providers/tasks/chat-completion",
    },
    {
        "provider": ["Fireworks AI"],
        "model": "gpt-oss|kimi-k2-(instruct|thinking)|llama-v3p[13]",
        "images": [],
        "source": "https://docs.fireworks.ai/guides/querying-vision-language-models",
    },
    {
        "provider": ["Cloudflare"],
        "model": r"gpt-oss|llama-3\.[13]|llama-3-8b|qwen2\.5-coder|deepseek-r1-distill",
        "images": [],
        "audio": False,
        "source": "https://developers.cloudflare.com/workers-ai/models/",
    },
    {
        "provider": ["Cerebras"],
        "model": "thinking",
        "structured": "words",
        "source": "https://inference-docs.cerebras.ai/capabilities/structured-outputs",
    },
    {
        "provider": ["Ollama"],
        "model": "^gemma3:(1b|270m)",
        "images": [],
        "source": "https://ollama.com/library/gemma3",
    },
    {
        "provider": ["Cerebras"],
        "model": "gpt-oss",
        "forced": False,
        "source": "https://inference-docs.cerebras.ai/capabilities/tool-use",
    },
    {
        "provider": ["OpenRouter"],
        "model": r"^(deepseek/deepseek-(v4|r1)|openai/gpt-oss|meta-llama/llama-3\.[13]-)",
        "images": [],
        "source": "https://openrouter.ai/docs/guides/overview/models",
    },
    {
        "provider": ["vLLM"],
        "model": r"Qwen3-0\.6B",
        "images": [],
        "source": "https://huggingface.co/Qwen/Qwen3-0.6B",
    },
]
