"""The pytest plugin for `conformance run`, and the suite for authors' own tests.

The modules import `runner`, `report` and `baseline`. Only pytest and the command line load them.
"""
