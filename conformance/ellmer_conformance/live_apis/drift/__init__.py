"""Finds differences between a live API and the strict server, which gets each request of a live play, too."""
