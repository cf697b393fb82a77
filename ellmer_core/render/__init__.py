"""Conversations for people: printed, as text, Markdown and HTML, in notebooks, in terminals and in Shiny apps.

The modules read contents, turns and chats, and change none. Only `live/` and the chat itself import them.
"""
