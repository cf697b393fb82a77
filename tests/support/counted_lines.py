"""Counts the lines of Python that a call runs, which do not depend on how busy the machine is."""

import sys


def lines_of(call):
    """Returns how many lines a call runs."""
    count, before = 0, sys.gettrace()

    def traced(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return traced

    sys.settrace(traced)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
