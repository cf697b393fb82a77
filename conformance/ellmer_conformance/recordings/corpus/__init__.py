"""A corpus by reference: other projects' recordings of real provider traffic, which are referred to and not copied.

`corpus.toml` pins published archives: their hashes, their licences, the members with recordings, and the number of
interactions. `fetch` extracts the recordings into a cache outside the repository. Nothing is run or installed.
Archives are untrusted: their size, their members' names and their number are limited.
"""
