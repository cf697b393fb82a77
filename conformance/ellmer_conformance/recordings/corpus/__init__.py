"""A corpus by reference: other projects' recordings of real provider traffic, pointed at, not copied.

`corpus.toml` pins published archives: which, their hash, their licence, which members are recordings, and how many
interactions they hold. `fetch` brings the recordings into a cache outside the repository. Nothing is ever run or
installed, and an archive is somebody else's bytes: its size, its members' names and their number are bounded.
"""
