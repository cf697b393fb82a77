"""What providers answer: the events of a stream, and what an answer says in neutral terms, whichever format it has.

The modules import the values of `contract` and the access to JSON in `readers`. Rules, runners and recordings import them.
"""
