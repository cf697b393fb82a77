"""Bridges to agent libraries, which have their own loop and messages."""
