"""Finds what the providers have and this project does not know: `nox -s news`.

It takes the newest release of each official SDK, of botocore and of the price table from the package index, reads the names
in them without running them, and compares them with two lists: `known.toml` (with what knows each name) and `declined.toml`
(with a reason). Whatever is in neither is news, with the release that brought it, and ends the command with exit code 1.

A human reads changelogs into rules; this command notices that there is something to read.
"""
