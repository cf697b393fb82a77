"""Scripts of the server: answers that a file lists, and files that are written from answers of a real API.

The modules import `server.replies` and `scenarios`. The engine and the proxy import them.
"""
