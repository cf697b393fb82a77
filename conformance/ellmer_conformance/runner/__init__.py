"""Playing a case: from cassettes, against the strict server or through a command, observed and judged.

The modules import `adapters`, `contract`, `scenarios`, `server` and the harness. `pytest`, `coverage` and `cli` import them.
"""
