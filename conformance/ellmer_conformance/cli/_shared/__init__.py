"""What several commands share: their paths and options, and text of others as a terminal may show it.

Imported by the commands only.
"""
