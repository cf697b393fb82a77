"""The contract of each wire format, one module each, one function a rule. `book()` finds a dialect."""
