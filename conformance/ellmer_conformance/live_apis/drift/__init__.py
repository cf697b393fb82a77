"""Where a live API and the strict server disagree: each request of a live play is asked of the strict server, too."""
