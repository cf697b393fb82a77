"""Running a tool call: arguments checked and converted, the function called with a time limit, progress shown.

The modules import `tools`, `contents`, `schemas` and `telemetry`. `transport`, the chat and the apps import them.
"""
