"""Counts the lines of Python that a call runs, which do not depend on how busy the machine is."""

import sys


def lines_of(call, below=""):
    """Returns how many lines a call runs, of the files below a folder."""
    count, before = 0, sys.gettrace()

    def traced(frame, event, _argument):
        nonlocal count
        count += event == "line"
        return traced if frame.f_code.co_filename.startswith(below) else None

    sys.settrace(traced)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
