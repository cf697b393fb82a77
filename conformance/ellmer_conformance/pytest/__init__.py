"""The pytest plugin behind `conformance run`, and the suite as authors use it in their own tests.

The modules import `runner`, `report` and `baseline`. Only pytest and the command line load them.
"""
