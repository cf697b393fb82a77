"""Tests a server: a client sends requests, and rules judge its answers.

`questions` has the requests in neutral terms and in each wire format. `answers` reads the answers and defines their form.
`server_rules` and `open_responses` judge them, and `run` sends the requests and makes the report. `readiness` tells what the
server is ready for.
"""

from .questions import QUESTIONS
from .run import Probe, Target, probed
from .server_rules import book

__all__ = ["QUESTIONS", "Probe", "Target", "book", "probed"]
