"""`Chat`, the conversation that users work with: history, tools, callbacks, echo, structured output and saving.

It imports every part below. `providers`, `jobs`, `live`, `mcp` and `inspect_ai` import it. (The name has an underscore
because `ellmer_core.chat()` is a function.)
"""
