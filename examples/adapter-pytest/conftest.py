# ruff: noqa: INP001 - a project's test folder, not a package
"""Loads the suite's parameters, options and report."""

pytest_plugins = ["ellmer_conformance.pytest.plugin"]
