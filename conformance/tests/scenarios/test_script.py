"""A script that no wire format can express is refused when it is made, not when a client sends a request."""

import pytest

from ellmer_conformance.scenarios.script import Failure


def test_a_failure_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no failure 'overload'; there are overloaded, server-error"):
        Failure("overload")
