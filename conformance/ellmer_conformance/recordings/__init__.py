"""Recordings that people have: lint, calibration against what real APIs said, replay of conversations, the public corpus.

The modules import `contract`, `baseline` and `report`, and `conversation_replay` the runner. The command line imports them.
"""
