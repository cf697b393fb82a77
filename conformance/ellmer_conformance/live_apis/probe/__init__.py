"""Tests a server: a client asks it questions, and rules judge its answers.

`questions` has what is asked, `requests` says it in each wire format, `server_answer` reads what comes back,
`answer_fields` and `event_order` know what an answer and a stream look like, `server_rules` judges, `run` asks, `report` says what came of it.
"""

from .questions import QUESTIONS
from .report import probed
from .run import Probe, Target
from .server_rules import book

__all__ = ["QUESTIONS", "Probe", "Target", "book", "probed"]
