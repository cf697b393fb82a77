"""The public API as a user writes it, for type checkers alone: `mypy typing_tests`."""
