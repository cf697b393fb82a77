# ruff: noqa: INP001 - a project's test folder, not a package
"""Every case, in every mode: `pytest`, `pytest -n auto`, `pytest -k two_parallel`, `pytest --report out`."""

from my_library import MyLibrary

from ellmer_conformance.pytest.suite import ConformanceSuite


class TestMyLibrary(ConformanceSuite):
    """A test for each case and mode."""

    adapter = MyLibrary
