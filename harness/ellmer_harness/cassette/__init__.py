"""A cassette in use: its modes, matching, saving, the verdict on a run, and explanations of requests that
were not found.

The modules import all parts except `cli`, `display` and `pytest`, which import them.
"""
