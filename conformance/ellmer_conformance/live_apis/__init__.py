"""Live APIs: `drift` finds differences from the strict server, and `probe` checks whether a server keeps the rules.

The modules import the runner and the parts below it. The command line imports them.
"""
