"""Secrets: values are masked before they are written (`redaction`, `placeholders`), and data is searched for missed
secrets (`cassette_scan`), by their names and places (`named_credentials`) and by the patterns of services
(`service_keys`, whose table is `key_patterns`). `evidence` says why a value counts as one. `json_strings` has the strings of a recording.

The modules import `exchange`, `format` and `errors`. Recordings, stores and cassettes import them.
"""
