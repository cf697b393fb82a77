"""The other side under test: a client is played against a server, and the rules judge what it answers.

`questions.py` has what is asked, `spoken.py` says it in each wire format, `heard.py` and `folded.py` read the answers,
`shapes.py` and `order.py` know what an answer and a stream look like, `book.py` has the rules, `play.py` asks.
"""

from .book import book
from .play import Probe, Target, probed
from .questions import QUESTIONS

__all__ = ["QUESTIONS", "Probe", "Target", "book", "probed"]
