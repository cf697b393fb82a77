"""Reads what a person pastes: a command of a shell, a part of a program, a log, a part of a recording, or an error text.

It imports the readers of recordings. `conformance lint -` and the judge of the site use it.
"""
