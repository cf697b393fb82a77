"""Rules about whole conversations, for every wire format: the duties of a client towards its user. Each judges a
`Run` of a case.

These rules are of kind *loss*: the provider may answer 200 although data is lost. Pointers lead into the run:
`/exchanges/1/request/…` (then the place in the body), `/replies/0`, `/tool_runs`, `/varied/crlf`.
"""

from importlib import import_module

from ._rulebook import book

for _part in (
    "answers.citations",
    "answers.endings",
    "answers.errors",
    "answers.replies",
    "answers.retries",
    "answers.streamed_calls",
    "answers.streams",
    "answers.structured_output",
    "answers.token_counts",
    "concurrency",
    "keys",
    "replay",
    "requests.answers_sent_back",
    "requests.attribution",
    "requests.history",
    "requests.options",
    "requests.reasoning",
    "requests.system_prompts",
    "requests.tool_schemas",
    "requests.unrequested",
    "requests.uploads",
    "requests.user_media",
    "requests.user_text",
    "runs",
    "tools.approvals",
    "tools.arguments",
    "tools.calls",
    "tools.result_media",
    "tools.results",
):
    import_module(f".{_part}", __name__)

__all__ = ["book"]
