"""The server writes replies and events with the recorded keys of the providers.

The keys of an object and their order come from the recorded traffic. Only unrecorded parts are listed here.
"""

from collections.abc import Iterator
from itertools import combinations

import pytest
from traffic.recorded_and_rendered import FORMATS, of_all_traffic, recorded_values, rendered

pytestmark = of_all_traffic

OPAQUE = {
    "args",
    "arguments",
    "input",
    "tools",
    "schema",
    "metadata",
}  # what a caller or a model may fill with anything


def objects(value, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yields every object with its path (list indices left out) and its keys in order."""
    if isinstance(value, list):
        for each in value:
            yield from objects(each, path)
    elif isinstance(value, dict):
        kind = value.get("type", "") if isinstance(value.get("type"), str) else ""
        path = f"{path}:{kind}" if kind else path
        yield path, list(value)
        for key, each in value.items():
            if key not in OPAQUE:
                yield from objects(each, f"{path}/{key}")


#: Objects and keys that we write and no recording shows, each with what it rests on.
UNSEEN = {
    "/error": "captured by others: a bare object after normal events (vercel/ai#5217)",
    " error": "the same object's one key",
    "/error:internal_server_error": "documented: the type of Groq's status 500",
    ":error/error:api_error": "recorded as an error body, and with overloaded_error in a stream",
    ":response.failed/response moderation": "recorded in responses of other states",
    **dict.fromkeys(
        [
            ":response.failed/response tool_usage",
            ":response.failed/response/reasoning context",
            ":response.failed/response/reasoning mode",
            ":response.failed/response/tool_usage",
            ":response.failed/response/tool_usage/image_gen",
            ":response.failed/response/tool_usage/image_gen/input_tokens_details",
            ":response.failed/response/tool_usage/image_gen/output_tokens_details",
            ":response.failed/response/tool_usage/web_search",
        ],
        "recorded in responses of other states",
    ),
    ":response.failed/response/output:message": "recorded with a reasoning item",
    ":response.incomplete/response/output:message phase": "recorded in whole messages",
    "/internalServerException": "documented: ConverseStreamOutput",
    " internalServerException": "likewise",
}


def unseen(name: str, *, stream: bool) -> set[str]:
    keys: dict[str, set[str]] = {}
    for _, values in recorded_values(name, own=False, stream=stream):
        for path, found in objects(values):
            keys.setdefault(path, set()).update(found)
    new = set()
    for _, values in rendered(name, stream=stream):
        for path, found in objects(values):
            new |= {f"{path} {key}" for key in set(found) - keys[path]} if path in keys else {path}
    return new


def test_replies_have_only_keys_that_were_recorded():
    new = set().union(*(unseen(name, stream=stream) for name in FORMATS for stream in (False, True)))
    assert new == set(UNSEEN), "an object or a key that no recording has, or one that is recorded meanwhile"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_keys_of_a_reply_are_in_the_recorded_order(name, stream):
    orders: dict[str, set[tuple[str, str]]] = {}
    for fidelity, values in recorded_values(name, own=True, stream=stream):
        if fidelity == "verbatim":  # others were sorted
            for path, found in objects(values):
                orders.setdefault(path, set()).update(combinations(found, 2))
    wrong = {
        (path, a, b)
        for _, values in rendered(name, stream=stream)
        for path, found in objects(values)
        for a, b in combinations(found, 2)
        if (b, a) in orders.get(path, ()) and (a, b) not in orders[path]
    }
    assert wrong == set()


@pytest.mark.parametrize("name", FORMATS)
def test_a_reply_has_every_key_that_all_recorded_ones_have(name):
    whole = [set(value) for _, (value,) in recorded_values(name, own=True, stream=False)]
    for shown, (value,) in rendered(name, stream=False):
        assert set.intersection(*whole) - set(value) == set(), shown
