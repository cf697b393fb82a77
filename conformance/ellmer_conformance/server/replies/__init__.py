"""What a request is answered: which line of the script, as which bytes, under which variation.

Imports the dialects and the parts of HTTP.
"""
