"""Live APIs: what the strict server answers otherwise than they do (`drift`), and whether a server keeps the rules (`probe`).

The modules import the runner and the parts below it. The command line imports them.
"""
