"""A model of rules, which answers where no script does: the same request always gets the same answer.

It calls offered tools, reads their results, describes images and PDFs, fills schemas, and ends where a limit says.
`request_options` reads what a request demands, in any wire format; `tool_choice` finds the tools that fit a question, by the
words of `meanings`; `user_words`, `written_dates`, `money` and `arithmetic` find the values of a text; `schema_values` makes data
for a schema, and `pattern_text` a text for a pattern; `media_description` looks at images and documents; `behaviour` has the rules. `docs/conformance/the-servers-model.md` describes them.
"""

from .behaviour import answer_of

__all__ = ["answer_of"]
