"""The flows pass the files that the page of the architecture lists, and no more functions than there, so that distance
is seen when it grows.
"""

import pytest

from .page import listed
from .subjects import FLOWS, passed

#: Files that a flow may pass at most, where the project has set a goal.
GOALS = {"image": 30, "cut": 28, "record": 28, "replay": 20, "judged": 35, "lint": 35}
FUNCTIONS = {"image": 200}
AGAIN = "If this is meant: PYTHONPATH=tests python -m flows"


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_passes_what_the_page_lists(name):
    files, functions = listed()[FLOWS[name][0]]
    flow = passed(name)

    assert set(flow) == set(files), AGAIN
    assert sum(map(len, flow.values())) <= functions * 1.05, AGAIN


@pytest.mark.parametrize("name", GOALS)
def test_a_flow_is_not_longer_than_its_goal(name):
    files, functions = listed()[FLOWS[name][0]]

    assert len(files) <= GOALS[name]
    assert functions <= FUNCTIONS.get(name, functions)
