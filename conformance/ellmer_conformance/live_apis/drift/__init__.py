"""Finds differences between a live API and the strict server, which both get each request of a live run."""
