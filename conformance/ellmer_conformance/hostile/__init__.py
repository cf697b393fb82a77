"""A provider that attacks its clients: cut calls, bombs, slow bytes, wrong types, data after the end, quoted keys, redirects.

`attacks.py` has the attacks and what a client must do under each, `provider.py` the server that sends them, and `trials.py`
runs them on an adapter and judges it.
"""
