"""Wire formats convert our turns to the JSON of each API and back. There is one package for each format, and none
does I/O.

The modules import only the values and `tools`; they use no network, clock or environment. `base` defines a format,
`shared` holds code for several formats, and `batch_and_file_apis` has the providers' services besides the
conversation.
"""
