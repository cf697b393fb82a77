"""The cells of `docs/chat/features.md`, executed with the newest versions of the libraries.

`python -m devtools.feature_cells` makes an environment for each library, starts the strict server, runs each cell, and compares
the result with the page. A cell is a program, names that must be there, or words that no name of the library may have.
"""
