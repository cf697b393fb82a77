"""Runs the tests that reach a change: which test runs which function, and which tests a change needs."""
