"""Reading: what a request of each wire format says, in neutral `Item`s. One module per wire format.

Each module has `WIRE` (its name), `paths` (URL path patterns that mark it) and `read(request) -> list[Item]`,
in the order the provider would read it. A body of any shape is read as far as it makes sense: judging is the
rules' work. `detect()` finds the wire and the vendor of a recorded URL and body.
"""
