"""Vendors, one small module each, found by name: `chat("groq/…")` imports `providers/groq.py`."""

#: Other names of vendors, which the specification uses.
ALIASES = {"claude": "anthropic", "openai_responses": "openai"}
