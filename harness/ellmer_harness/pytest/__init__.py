"""The pytest plugin: the `cassette` marker, fixtures for each option, the summary of a run.

The modules import `cassette` and the layers below it. Only pytest imports them.
"""

import sys

import pytest

if (
    "vcr.matchers" not in sys.modules
):  # pytest-recording wants it rewritten, and comes too late once the engine has imported it
    pytest.register_assert_rewrite("vcr.matchers")
