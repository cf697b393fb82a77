"""A provider that attacks its clients: answers that are cut, huge or slow, wrong types, data after the end, errors with the key, redirects.

`attacks.py` has the attacks and what a client must do under each, `provider.py` the server that sends them, and `trials.py`
runs them on an adapter and judges it.
"""
