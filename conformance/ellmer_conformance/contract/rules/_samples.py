"""The examples of rules share this data: one function that adds two numbers, in JSON Schema."""

from __future__ import annotations

from ..exchange import Json

#: The arguments of the function.
NUMBERS: Json = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["x", "y"],
}
ADD: Json = {"name": "add", "description": "Adds two numbers", "parameters": NUMBERS}
#: A tool, as Chat Completions and similar APIs declare it.
FUNCTION: Json = {"type": "function", "function": ADD}
#: The question, as a message.
QUESTION: Json = {"role": "user", "content": "What is 2 + 3?"}
