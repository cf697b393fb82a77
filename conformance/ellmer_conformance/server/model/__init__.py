"""A model of rules, which answers where no script does: the same request always gets the same answer.

It calls offered tools, reads their results, describes images and PDFs, fills schemas, and ends where a limit says.
`request_options` reads what a request demands, in any wire format; `schema_values` makes data for a schema;
`media_description` looks at images and documents; `behaviour` has the rules. `docs/the-servers-model.md` describes them.
"""

from .behaviour import answer_of

__all__ = ["answer_of"]
