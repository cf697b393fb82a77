"""Recordings that are too old: the policies that say so, and the warning or error that a run gets.

The policies import `exchange`; the warnings import the state of a tape. `Tape` and its options import them.
"""
