"""Providers, one small module each, which are found by name: `chat("groq/…")` imports `providers/groq.py`."""

#: Other names of providers, which the specification uses.
ALIASES = {"claude": "anthropic", "openai_responses": "openai"}
