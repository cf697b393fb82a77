"""The pytest plugin: the `cassette` marker, fixtures for each option, the summary of a run.

The modules import `tape` and the layers below it. Only pytest imports them.
"""
