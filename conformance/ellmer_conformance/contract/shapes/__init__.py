"""The shapes of requests for each wire format: fields, types, values and bounds, from the providers' own documents.

There is one file for each wire format, and one for each provider with a different parser.
`conformance/shapes/build_shapes.py` writes them: the faults that all official sources exclude, without those in
accepted requests. A node lists the possible JSON types of a place. `others` is the node of unnamed fields (without
it, they are faults), and `tag` is the field that distinguishes variants.
"""

from .checker import Fault, FaultKind, checker, names, shape

__all__ = ["Fault", "FaultKind", "checker", "names", "shape"]
