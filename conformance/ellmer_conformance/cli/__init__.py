"""The command line: `conformance`."""
