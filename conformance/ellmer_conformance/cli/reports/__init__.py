"""Work with reports: print, compare and merge them, and list the failures that are expected."""
