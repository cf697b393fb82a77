"""Recorded answers with one error each: a part is lost, doubled, moved, or of another kind.

The content of the turn is not checked. The result is a turn or an error of ours, and the history can be saved,
loaded, printed and continued. The damage has a fixed seed, so that each run is the same.
"""

import json
from base64 import b64decode
from copy import deepcopy
from random import Random

import pytest
from traffic.recorded import absent, by_family, interactions, judge

from ellmer_core.contents.turns import UserTurn
from ellmer_core.conversation.history import History, chat_of_record, chat_record
from ellmer_core.conversation.io_operations import Answer, ReadBody, ReadEvents
from ellmer_core.conversation.repaired_turns import repaired
from ellmer_core.conversation.request_cache import encoded
from ellmer_core.conversation.response import read
from ellmer_core.conversation.settings import Settings
from ellmer_core.errors import EllmerError
from ellmer_core.models.prices.price_lookup import cost
from ellmer_core.render.printed_form import format_chat
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.framing import decoder
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.interfaces import Request
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

WIRES = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic-messages": AnthropicMessages,
    "gemini": Gemini,
    "bedrock-converse": Bedrock,
    "ollama": OllamaChat,
    "cohere-v2": CohereChat,
}
FRAMING = {"bedrock-converse": "aws_event_stream", "ollama": "ndjson"}
STRANGE = [None, "", "x", 0, -1, 1.5, True, [], {}, [None], ["x"], [{}], {"a": 1}, "\ud83d"]
ROUNDS = 3


def answers():
    """Yields `(file#n, its name, wire, answer)`: the events of a stream as a list, or the body."""
    for name, this, _ in interactions():
        kind = WIRES.get(this["protocol"])
        if kind and this["response"]["status"] < 300:
            kind = MistralChat if this["family"] == "mistral" else kind
            yield name, name, kind(model="m"), answer_of(this)


def answer_of(interaction):
    response = interaction["response"]
    body = (
        b64decode(response["body_base64"]) if "body_base64" in response else response.get("text", "").encode()
    )
    if not body:
        return response["body"]
    cutter = decoder(FRAMING.get(interaction["protocol"], "sse"))
    return [*cutter.feed(body), *cutter.flush()]


def places(value, path=()):
    """Yields the path of every part of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def damaged(value, chance):
    """Returns a copy with one part lost, doubled, moved, or replaced by a strange value."""
    value = deepcopy(value)
    *path, last = chance.choice(list(places(value)))
    holder = value
    for key in path:
        holder = holder[key]
    match chance.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.insert(last, deepcopy(holder[last]))
        case 2 if isinstance(holder, list):
            holder.append(holder.pop(last))
        case _:
            holder[last] = deepcopy(chance.choice(STRANGE))
    return value


def received(history, wire, answer):
    """Adds an answer to the history, as `_loop.answered()` does. Returns the turn."""
    settings, user = Settings(wire), UserTurn("Hi")
    stream = isinstance(answer, list)
    steps = read(history, settings, Request("http://x", {}, {}, stream), Answer(200))
    history.asked = user
    batches = iter([answer] if stream else [])
    outcome = None
    try:
        while True:
            match steps.send(outcome):
                case ReadEvents():
                    outcome = next(batches, None)
                case ReadBody():
                    outcome = json.dumps(answer).encode()
                case _:
                    outcome = None
    except StopIteration as end:
        history.commit(user, end.value)
        return end.value
    except BaseException:
        history.close_interrupted("error")
        raise


@pytest.mark.slow
@absent
@pytest.mark.filterwarnings("ignore:.*It is not sent back:UserWarning")
@pytest.mark.parametrize("recorded_answers", by_family(answers()))
def test_a_damaged_answer_is_a_turn_or_an_error_and_never_spoils_the_chat(recorded_answers):
    judge(recorded_answers, never_spoils_the_chat)


def never_spoils_the_chat(name, wire, answer):
    chance = Random(name)
    for _ in range(ROUNDS):
        history = History()
        try:
            turn = received(history, wire, damaged(answer, chance))
            cost(wire, turn.tokens)
        except EllmerError:
            pass
        saved = json.loads(json.dumps(chat_record(history, wire.provider, wire.model)))
        back, *_ = chat_of_record(saved, [], [])
        assert back.turns == history.turns
        format_chat(wire.provider, wire.model, history.turns).encode("utf-8", "surrogatepass")
        following = repaired(
            [*history.turns, history.reply([]) if history.open_requests else UserTurn("Go on")]
        ).turns
        assert encoded(wire.request(following).json) == encoded(
            wire.request(repaired(back.turns + following[-1:]).turns).json
        )
