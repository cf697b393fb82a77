"""OpenTelemetry traces of GenAI calls for the linter: an app's requests, as far as its instrumentation stored them.

A span differs from the HTTP request. It has no headers, its messages are in the conventions' own form for every
provider, and an instrumentation may leave out or shorten content. Only rules for every provider are therefore checked
(results belong to calls, media is media), and violations fail nobody, because the request may have been right.
"""

from .read import Span, read
from .rules import BOOK

__all__ = ["BOOK", "Span", "read"]
