"""Adapters played against what providers really answered: recorded conversations as cases.

An adapter is given the system prompt, the tools, the history and the user's words of a recording. The recorded answers are
played to it over HTTP, in the recorded chunks. Its requests are judged by the rules, and compared with those that the
real API accepted.
"""
