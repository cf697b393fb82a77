"""Existing recordings: lint, calibration with the verdicts of real APIs, replay of conversations, the public corpus.

The modules import `contract`, `baseline` and `report`. `conversation_replay` also imports the runner. The command line imports them.
"""
