"""Vendors, one small module each, found by name: `chat("groq/…")` imports `providers/groq.py`."""
