"""`Chat`, the conversation that users work with, is in `chat`, and its attributes are in `state`. Beside them: what it returns
(`answers`), what it asks beside the conversation (`requests_beside`), what it prints (`console`), structured output, and the writer of
tool definitions.

It imports every part below. `providers`, `jobs`, `live`, `mcp` and `inspect_ai` import it. (The name has an underscore
because `ellmer_core.chat()` is a function.)
"""
