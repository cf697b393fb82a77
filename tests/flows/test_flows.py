"""The flows pass the files that the page of the architecture lists, and no more functions than there, so that distance
is seen when it grows.
"""

import pytest

from .page import listed
from .subjects import FLOWS, passed

#: Files that a flow may pass at most: a change makes them fewer, not more.
MOST = {"image": 31, "cut": 29, "record": 23, "replay": 18, "judged": 34, "lint": 35}
#: Functions that a flow may pass at most.
MOST_FUNCTIONS = {"image": 200}
AGAIN = "If this is meant: PYTHONPATH=tests python -m flows"


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_passes_what_the_page_lists(name):
    files, functions = listed()[FLOWS[name][0]]
    flow = passed(name)

    assert set(flow) == set(files), AGAIN
    most = MOST_FUNCTIONS.get(name, functions * 1.05)
    assert sum(map(len, flow.values())) <= most, AGAIN


@pytest.mark.parametrize("name", MOST)
def test_a_flow_does_not_grow(name):
    assert len(listed()[FLOWS[name][0]][0]) <= MOST[name]
