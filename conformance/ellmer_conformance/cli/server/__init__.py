"""Serve the strict server: locally, for any client."""
