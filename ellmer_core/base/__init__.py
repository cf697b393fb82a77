"""What the whole library uses: values, limits, checks of arguments, the log, and text that is safe to print.

The modules import `errors`. All other folders import them.
"""
