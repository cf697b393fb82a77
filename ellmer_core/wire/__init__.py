"""Wire formats convert our turns to the JSON of each API and back. There is one package for each format, and none
does I/O.

A package has `to_wire` (requests, contents), `from_wire` (streams, answers) and, where the provider has them,
`batches_and_files`. The modules import only the values and `tools`; they use no network, clock or environment. `base`
defines a format, `interfaces` has the values that it works with, and `shared` holds code for several formats.
"""
