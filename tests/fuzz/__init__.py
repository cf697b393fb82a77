"""Readers of files that come from elsewhere, each with its legal files, the mutations of these, and the files that once broke it.

`python -m fuzz` (with `PYTHONPATH=tests:tests/support`) mutates, `nox -s fuzz` does it for all, `found/` has what was found.
"""
