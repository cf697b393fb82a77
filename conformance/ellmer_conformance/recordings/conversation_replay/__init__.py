"""Replays recorded conversations as cases: an adapter gets the recorded answers of real providers.

An adapter gets the system prompt, the tools, the history and the user's messages of a recording. The recorded answers
are sent to it over HTTP, in the recorded chunks. Its requests are judged by the rules, and compared with those that
the real API accepted.
"""
