"""Rendered forms of contents, turns and chats."""
