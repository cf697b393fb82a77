"""The official SDKs against the strict server: a third party must read every reply."""

import pytest
from sdks.clients import SDKS
from sdks.replies import ANSWERS, Heard, serving

from ellmer_conformance.scenarios.script import Answer, Call, Say, Think

MODES = ("sync", "async", "stream", "async-stream")


@pytest.fixture(scope="module")
def server():
    with serving(ANSWERS) as server:
        yield server


def expected(answer: Answer, *, shows_thoughts: bool) -> Heard:
    calls = [(part.name, dict(part.arguments)) for part in answer.parts if isinstance(part, Call)]
    return Heard(
        "".join(part.text for part in answer.parts if isinstance(part, Say)),
        "".join(part.text for part in answer.parts if isinstance(part, Think) and shows_thoughts),
        calls,
        answer.stop or ("tool" if calls else "stop"),
        answer.usage,
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("sdk", SDKS)
def test_a_reply_is_read(server, sdk, case, mode):
    asked = sdk(server.url(case, next(server.nonces)))
    assert asked.heard(asked.ask(mode)) == expected(ANSWERS[case], shows_thoughts=sdk.shows_thoughts)
