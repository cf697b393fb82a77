"""Stale recordings: the policies that detect them, and the warning or error of a run.

The policies import `exchange`; the warnings import the state of a tape. `Tape` and its options import them.
"""
