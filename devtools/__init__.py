"""Programs for those who work on this repository. They import nothing of it, and nothing of it imports them.

`reach`: which tests reach which lines. `changed`: runs the tests that reach the changed lines. `mutants`: changes lines
of code, one at a time, and looks whether a test fails. `figures`: writes the figures of the README.
`public_recordings`: lints the recordings of public repositories.
"""
