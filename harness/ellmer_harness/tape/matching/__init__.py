"""Matching: the key of a request, the index of a cassette by key, and the explanation of a miss.

The rest of `tape` uses these modules, which import only its names and options.
"""
