"""botocore and the SDKs of Ollama, Mistral and Cohere against the strict server, as in `test_sdks.py`."""

from dataclasses import replace

import pytest
from sdks.clients_of_other_formats import SDKS, Ollama
from sdks.replies import ANSWERS, Heard, serving

from ellmer_conformance.scenarios.script import Answer, Call, Say, Think, Usage

#: Here thoughts have no count.
UNCOUNTED = ANSWERS | {"thinking": replace(ANSWERS["thinking"], usage=Usage(21, 40))}
PLACES = [(sdk, mode) for sdk in SDKS for mode in sdk.modes]


@pytest.fixture(scope="module")
def server():
    with serving(UNCOUNTED) as server:
        yield server


def expected(answer: Answer, sdk) -> Heard:
    calls = [(part.name, dict(part.arguments)) for part in answer.parts if isinstance(part, Call)]
    return Heard(
        "".join(part.text for part in answer.parts if isinstance(part, Say)),
        "".join(part.text for part in answer.parts if isinstance(part, Think)),
        calls,
        answer.stop or ("tool" if calls else "stop"),
        replace(answer.usage, cached=0) if sdk is Ollama else answer.usage,
    )


@pytest.mark.parametrize("case", UNCOUNTED)
@pytest.mark.parametrize(("sdk", "mode"), PLACES)
def test_a_reply_is_read(server, sdk, mode, case):
    asked = sdk(server.url(case, next(server.nonces)))
    assert asked.heard(asked.ask(mode)) == expected(UNCOUNTED[case], sdk)
