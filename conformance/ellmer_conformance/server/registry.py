"""Which dialect speaks for a vendor."""

from __future__ import annotations

from .dialects import Dialect, Ticket
from .dialects.anthropic import Anthropic
from .dialects.bedrock import Bedrock
from .dialects.cohere import Cohere
from .dialects.deepseek import DeepSeek
from .dialects.gemini import Gemini
from .dialects.mistral import Mistral
from .dialects.ollama import Ollama
from .dialects.openai_chat import OpenAIChat
from .dialects.openai_responses import OpenAIResponses
from .dialects.vertex import Vertex

__all__ = ["DIALECTS", "dialect_of"]

_OWN: tuple[type[Dialect], ...] = (
    OpenAIChat,
    OpenAIResponses,
    Anthropic,
    Gemini,
    Bedrock,
    Ollama,
    Mistral,
    Cohere,
)
_OTHERS: tuple[type[Dialect], ...] = (DeepSeek, Vertex)

#: By wire format and vendor; the format's own author first.
DIALECTS = {(dialect.wire, dialect.vendor): dialect for dialect in (*_OWN, *_OTHERS)}
_BY_WIRE = {dialect.wire: dialect for dialect in _OWN}


def dialect_of(ticket: Ticket) -> Dialect:
    """The vendor's dialect, else the format's author's; where nobody is known, OpenAI's."""
    request = ticket.request
    made = DIALECTS.get((request.wire, request.vendor)) or _BY_WIRE.get(request.wire) or _OWN[0]
    return made(ticket)
