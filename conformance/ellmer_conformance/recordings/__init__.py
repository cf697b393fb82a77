"""Judging recordings: lint for those that people have, calibration against what real APIs said, readers for both.

The modules import `contract`, and `baseline` and `report` for expected failures. The command line imports them.
"""
