"""Running a tool call: its arguments are checked and converted, the function runs with a time limit, and progress is
shown.

The modules import `tools`, `contents`, `schemas` and `telemetry`. `transport`, the chat and the apps import them.
"""
