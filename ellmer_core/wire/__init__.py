"""Wire formats: our turns in the JSON of each API, and its JSON in our turns. One package for each format, all of it pure.

The modules import only the values and `tools`; no network, clock or environment. `base` says what a format is,
`shared` holds what several formats have in common, `batch_and_file_apis` what providers offer beside the conversation.
"""
