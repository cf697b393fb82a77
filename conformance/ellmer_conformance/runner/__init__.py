"""Runs a case from cassettes, against the strict server or through a command, and judges the observed run.

The modules import `adapters`, `contract`, `scenarios`, `server` and the harness. `pytest`, `coverage` and `cli` import them.
"""
