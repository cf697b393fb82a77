"""Tests a server: a client sends requests, and rules judge its answers.

`questions` has the requests in neutral terms, `requests` writes them in each wire format, and `server_answer` reads
the answers. `answer_fields` and `event_order` define the form of answers and streams, `server_rules` judges them,
`run` sends the requests, and `report` has the results.
"""

from .questions import QUESTIONS
from .report import probed
from .run import Probe, Target
from .server_rules import book

__all__ = ["QUESTIONS", "Probe", "Target", "book", "probed"]
