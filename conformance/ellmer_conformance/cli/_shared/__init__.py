"""This folder has what several commands use: paths, options, and text that is safe to print.

Imported by the commands only.
"""
