"""Existing recordings: lint, calibration with the verdicts of real APIs, replay of conversations, the public corpus.

The modules import `contract`, `baseline` and `report`, and `conversation_replay` the runner. The command line imports them.
"""
