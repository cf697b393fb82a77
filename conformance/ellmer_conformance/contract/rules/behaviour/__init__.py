"""Rules about whole conversations, for every wire format: the duties of a client towards its user. Each judges a
`Run` of a case.

These rules are of kind *loss*: the provider may answer 200 although data is lost. Pointers lead into the run:
`/exchanges/1/request/…` (then the place in the body), `/replies/0`, `/tool_runs`, `/varied/crlf`.
"""

from importlib import import_module

from ._rulebook import book

for _part in (
    "replay",
    "requests.answers_sent_back",
    "answers.endings",
    "answers.citations",
    "answers.errors",
    "requests.history",
    "requests.options",
    "keys.printed",
    "tools.result_media",
    "answers.replies",
    "tools.results",
    "runs",
    "keys.sent",
    "answers.streams",
    "answers.structured_output",
    "requests.reasoning",
    "tools.approvals",
    "tools.calls",
    "requests.uploads",
    "requests.user_input",
    "requests.unrequested",
    "requests.user_media",
):
    import_module(f".{_part}", __name__)

__all__ = ["book"]
