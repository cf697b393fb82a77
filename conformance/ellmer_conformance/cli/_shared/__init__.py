"""This folder has code for several commands: paths, options, and text that is safe to print.

Only the commands import it.
"""
