"""A cassette in use: modes, matching, saving, the verdict on a run, and explanations of requests that were not found.

The modules import every part but `cli`, `display` and `pytest`, which import them.
"""
