"""OpenTelemetry traces of GenAI calls, for the linter: what an app sent, as far as its instrumentation kept it.

A span is not the wire. It has no headers, its messages are in the conventions' own form, whatever the provider's,
and an instrumentation may leave out or shorten what it likes. So only what holds for every provider is checked
(results belong to calls, media is media), and nothing that is found fails anybody: the wire may have been right.
"""

from .read import Span, read
from .rules import BOOK

__all__ = ["BOOK", "Span", "read"]
