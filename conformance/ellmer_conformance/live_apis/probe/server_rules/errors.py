"""Errors: which requests the server refuses, which it takes, and the form of its errors."""

from __future__ import annotations

from collections.abc import Iterator

from ....contract.rule import Finding
from ..answer_fields import ERRORS, misfits
from ..server_answer import Heard
from ._rulebook import HERE, LOSS, MUST, SHOULD, book, found


@book.rule("SRV-030", MUST, LOSS, source="https://www.rfc-editor.org/rfc/rfc9110#section-15.5")
def mistakes_are_refused(heard: Heard) -> Iterator[Finding]:
    """A request that every API refuses is refused with a status of 400 to 499, because it is the client's mistake.

    Why: a client repeats a request after a status of 500 or more, and accepts what came with 200.
    """
    if heard.kind == "malformed":
        fine = 400 <= heard.status < 500
        yield found(fine, HERE, f"{heard.question.name} is answered with {heard.status}")


@book.rule(
    "SRV-031",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/error-codes",
        "https://platform.claude.com/docs/en/api/errors",
    ],
)
def errors_have_the_form(heard: Heard) -> Iterator[Finding]:
    """Every error has the form of the provider's errors.

    Why: clients read errors in the provider's form.
    """
    if heard.status >= 400:
        forms = ERRORS[heard.wire]
        value = heard.value[0] if isinstance(heard.value, list) and heard.value else heard.value
        fine = any(not list(misfits(value, form)) for form in forms)
        body = heard.exchange.response.body[:160] if heard.exchange.response else b""
        yield found(fine, HERE, f"the error is {body.decode('utf-8', 'replace')!r}")


@book.rule("SRV-032", MUST, LOSS, source="https://www.rfc-editor.org/rfc/rfc9110#section-15.6")
def mistakes_break_nothing(heard: Heard) -> Iterator[Finding]:
    """No request makes the server fail with a status of 500 or more.

    Why: a status of 500 or more blames the server, and clients repeat the request.
    """
    if heard.kind in {"malformed", "rule", "example"}:
        fine = 0 < heard.status < 500
        yield found(
            fine, HERE, f"{heard.rule or heard.question.name} is answered with {heard.status or 'nothing'}"
        )


@book.rule("SRV-033", SHOULD, LOSS, source="This project decided it.")
def what_the_api_refuses_is_refused(heard: Heard) -> Iterator[Finding]:
    """The server refuses a request that the provider's API refuses.

    Why: a request that only this server takes fails when the user moves to the provider.
    """
    if heard.kind == "rule":
        fine = 400 <= heard.status < 500
        yield found(fine, HERE, f"{heard.rule}: the API refuses this, and here it gets {heard.status}")


@book.rule("SRV-034", SHOULD, LOSS, source="This project decided it.")
def what_the_api_takes_is_taken(heard: Heard) -> Iterator[Finding]:
    """The server accepts a request that the provider's API accepts.

    Why: clients that were written for the provider send such requests.
    """
    if heard.kind == "example":
        problem = f"{heard.rule}: the API takes this, and here it gets {heard.status}: {heard.value!r:.160}"
        yield found(heard.status < 400, HERE, problem)
