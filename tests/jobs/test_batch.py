"""Batches with a local server that answers in the shapes of recorded batch APIs. They were not run live."""

import json
import re
import warnings
from dataclasses import dataclass

import pytest
from wires.batch_apis import APIS, MODEL, PROMPTS, Anthropic, Gemini, OpenAI, chat_of, every_api, line

from ellmer_core import chat_anthropic, chat_deepseek, chat_openai_completions
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.conversation import retries
from ellmer_core.errors import (
    AuthenticationError,
    BadRequestError,
    ConnectError,
    ContextWindowError,
    EllmerWarning,
    ResponseError,
    ServerError,
    UsageError,
)
from ellmer_core.jobs.batch import batch_chat, batch_chat_completed, batch_chat_structured, batch_chat_text
from ellmer_core.models.prices import price_lookup
from ellmer_core.transport.http_exchange import HttpExchange
from ellmer_core.wire.gemini.batches_and_files import GeminiBatches


def never(seconds):
    raise AssertionError(f"nothing to wait {seconds} s for")


@pytest.fixture
def say(server, reply):
    """Queues answers: JSON, bytes, or a reply."""

    def say(*answers):
        for answer in answers:
            if isinstance(answer, reply):
                server.answers(answer)
            else:
                server.answers(reply([answer if isinstance(answer, bytes) else json.dumps(answer).encode()]))

    return say


@pytest.fixture
def path(tmp_path):
    return tmp_path / "batch.json"


def test_images_by_url_are_fetched_where_the_api_fetches_none(server, say, path, monkeypatch):
    url, fetched = "https://example.com/cat.png", []
    monkeypatch.setattr(
        "ellmer_core.contents.files.fetched_image",
        lambda asked: fetched.append(asked) or ContentImageInline("image/png", "iVBORw0KGgo="),
    )
    api = Gemini()
    say(*api.submitted(), *api.finished({"chat-0": "A cat.", "chat-1": "The same."}))
    look = ["What is it?", ContentImageRemote(url)]

    batch_chat(chat_of(api, server, fetch="https"), [look, look], path, sleep=lambda _: None)

    assert fetched == [url]
    sent = [each["contents"][-1]["parts"][1] for each in api.asked(server).values()]
    assert sent == [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}] * 2


def test_what_the_model_does_not_take_is_said_in_words_in_a_batch_too(server, say, path):
    call = ContentToolRequest("call_1", "draw", {})
    drawn = ContentToolResult(ContentImageInline("image/svg+xml", "PHN2Zy8+"), request=call)
    api = OpenAI()
    say(*api.submitted(), *api.finished({"chat-0": "4"}))
    chat = chat_of(api, server)
    chat.set_turns([UserTurn("Draw"), AssistantTurn([call]), UserTurn([drawn]), AssistantTurn("Done.")])

    with pytest.warns(EllmerWarning, match="a description was sent instead"):
        batch_chat(chat, PROMPTS[:1], path, sleep=lambda _: None)

    assert "which this model cannot be shown" in json.dumps(api.asked(server))


def ways(server):
    return [f"{asked.method} {asked.path}" for asked in server.asked]


@every_api
def test_a_batch_is_handed_in_waited_for_and_collected_by_name(api, server, say, path):
    say(*api.submitted(), api.working(), api.working(), *api.finished({"chat-1": "6", "chat-0": "4"}))
    slept = []
    chat = chat_of(api, server, params={"max_tokens": 77})
    chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello.")])

    chats = batch_chat(chat, PROMPTS, path, sleep=slept.append)

    assert [one.last_turn().text for one in chats] == ["4", "6"]
    assert [one.last_turn("user").text for one in chats] == PROMPTS
    assert [len(one.get_turns()) for one in [chat, *chats]] == [2, 4, 4]
    assert chats[0].get_system_prompt() == "Be brief."
    assert slept == [5.0, 7.5]
    asked = ways(server)
    assert list(dict.fromkeys(asked)) == list(api.ways)
    bodies = api.asked(server)
    assert list(bodies) == ["chat-0", "chat-1"]
    for name, prompt in zip(bodies, PROMPTS, strict=True):
        assert (
            bodies[name]
            == chat.wire.request([*chat.get_turns(include_system_prompt=True), UserTurn(prompt)]).json
        )


@every_api
def test_interrupted_anywhere_it_goes_on_where_it_was(api, server, say, path):
    say(*api.submitted(), api.working())
    assert batch_chat(chat_of(api, server), PROMPTS, path, wait=False, sleep=never) is None
    before = len(server.asked)

    say(api.working(), api.working())
    assert not batch_chat_completed(chat_of(api, server), PROMPTS, path)
    assert batch_chat_text(chat_of(api, server), PROMPTS, path, wait=False, sleep=never) is None

    say(*api.finished({"chat-0": "4", "chat-1": "6"}))
    assert batch_chat_completed(chat_of(api, server), PROMPTS, path)
    assert ways(server)[before] == next(way for way in api.ways if way.startswith("GET"))
    asked = len(server.asked)
    assert batch_chat_text(chat_of(api, server), PROMPTS, path, sleep=never) == ["4", "6"]
    assert batch_chat_text(chat_of(api, server), PROMPTS, path, sleep=never) == ["4", "6"]
    assert len(server.asked) == asked
    assert json.loads(path.read_text())["version"] == 1
    assert [file.name for file in path.parent.iterdir()] == ["batch.json"]


@every_api
def test_it_costs_half(api, server, say, path):
    say(*api.submitted(), *api.finished({"chat-0": "4"}), json.loads(json.dumps(api.body("4"))))
    [batched] = batch_chat(chat_of(api, server), ["2 + 2?"], path)
    alone = chat_of(api, server)
    alone.chat("2 + 2?")
    assert batched.get_cost() == pytest.approx(alone.get_cost() / 2)
    assert batched.get_cost() > 0


@dataclass
class Sum:
    total: int


@every_api
def test_structured_answers(api, server, say, path):
    say(*api.submitted(), *api.finished({"chat-0": '{"total": 4}', "chat-1": "[]"}))
    with pytest.warns(EllmerWarning, match="1 of 2 prompts failed"):
        sums = batch_chat_structured(chat_of(api, server), PROMPTS, path, type=Sum)
    assert sums == [Sum(4), None]
    assert "total" in json.dumps(api.asked(server)["chat-0"])
    assert batch_chat_completed(chat_of(api, server), PROMPTS, path, type=Sum)
    with pytest.raises(UsageError, match="differs in type"):
        batch_chat_completed(chat_of(api, server), PROMPTS, path)


def test_structured_answers_in_a_data_frame_and_cut_ones(server, say, path):
    pytest.importorskip("polars", reason="polars is not installed")
    api = OpenAI()
    cut = {
        **api.body('{"total": 6}'),
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    lines = [
        line(custom_id="chat-0", response=api.response('{"total": 4}'), error=None),
        line(custom_id="chat-1", response={"status_code": 200, "body": cut}, error=None),
    ]
    say(*api.submitted(), api.batch("completed", output_file_id="o"), b"\n".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EllmerWarning)
        frame = batch_chat_structured(chat_of(api, server), PROMPTS, path, type=Sum, frame="polars")
    assert frame["total"].to_list() == [4, None]
    assert "max_tokens" in frame[".error"][1]


def test_without_an_answer_yet_there_is_no_structured_data(server, say, path):
    say(*Anthropic().submitted(), Anthropic().working())
    assert batch_chat_structured(chat_of(Anthropic(), server), PROMPTS, path, type=Sum, wait=False) is None


# Errors -----------------------------------------------------------------------------------------------------


def test_errors_of_single_prompts_stand_in_their_places(server, say, path):
    openai, anthropic, gemini = APIS
    error = {"message": "Too long.", "type": "invalid_request_error", "code": "context_length_exceeded"}
    out = [line(custom_id="chat-1", response=openai.response("6"), error=None), b"{broken", b"7"]
    errors = line(custom_id="chat-0", response={"status_code": 400, "body": {"error": error}}, error=None)
    expired = line(custom_id="chat-2", response=None, error={"code": "batch_expired", "message": "Expired."})
    say(*openai.submitted(), openai.batch("expired", output_file_id="o", error_file_id="e"))
    say(b"\n".join(out), errors + b"\n" + expired)
    failed = outcomes(openai, server, path)
    assert [type(one) for one in failed] == [ContextWindowError, str, ServerError, ResponseError]
    assert failed[0].code == "context_length_exceeded"
    assert "Expired." in str(failed[2])

    refused = {"type": "error", "error": {"type": "invalid_request_error", "message": "Too long."}}
    lines = [
        line(custom_id="chat-0", result={"type": "errored", "error": refused}),
        line(custom_id="chat-2", result={"type": "expired"}),
        line(custom_id="chat-1", result={"type": "succeeded", "message": anthropic.body("6")}),
        line(custom_id="chat-3", result=None),
    ]
    say(*anthropic.submitted(), anthropic.working("ended"), b"\n".join(lines))
    failed = outcomes(anthropic, server, path)
    assert [type(one) for one in failed] == [BadRequestError, str, ServerError, ServerError]
    assert "Too long." in str(failed[0])
    assert "expired" in str(failed[2])

    answers = [
        {"error": {"code": 3, "message": "Too long."}, "metadata": {"key": "chat-0"}},
        {"error": {"code": 13, "message": "Internal."}, "metadata": {"key": "chat-2"}},
        {"response": gemini.body("6"), "metadata": {"key": "chat-1"}},
    ]
    operation = {
        "name": "batches/b1",
        "done": True,
        "response": {"inlinedResponses": {"inlinedResponses": answers}},
    }
    say(*gemini.submitted(), operation)
    failed = outcomes(gemini, server, path)
    assert [type(one) for one in failed] == [BadRequestError, str, ServerError, ResponseError]
    assert "Too long." in str(failed[0])


def outcomes(api, server, path):
    """Returns the errors and the texts of the answers."""
    path.unlink(missing_ok=True)
    with pytest.warns(EllmerWarning, match="3 of 4 prompts failed"):
        found = batch_chat(chat_of(api, server), ["a", "b", "c", "d"], path)
    return [one if isinstance(one, Exception) else one.last_turn().text for one in found]


@pytest.mark.parametrize(
    "case",
    [
        (OpenAI(), OpenAI().batch("failed", errors={"data": [{"message": "Bad line."}]}), "Bad line"),
        (OpenAI(), OpenAI().batch("failed"), "no reason given"),
        (Gemini(), Gemini().working("FAILED"), "it is FAILED"),
        (Gemini(), {"name": "batches/b1", "error": {"message": "Quota."}}, "Quota"),
    ],
)
def test_a_batch_that_failed_as_a_whole(server, say, path, case):
    api, state, words = case
    say(*api.submitted(), state)
    with pytest.raises(BadRequestError, match=words):
        batch_chat(chat_of(api, server), PROMPTS, path)


def test_what_was_refused_can_be_handed_in_again(server, say, reply, path):
    say(reply(status=401), *Anthropic().submitted(), *Anthropic().finished({"chat-0": "4", "chat-1": "6"}))
    with pytest.raises(AuthenticationError):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
    assert not path.exists()
    assert batch_chat_text(chat_of(Anthropic(), server), PROMPTS, path) == ["4", "6"]


def test_what_broke_off_in_handing_in_is_not_handed_in_twice(server, reply, path):
    server.answers(reply([b"{"], end="reset"))
    with pytest.raises(ConnectError):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
    assert len(server.asked) == 1
    with pytest.raises(UsageError, match="interrupted while it was submitted"):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
def test_what_a_gateway_lost_may_have_been_handed_in(server, say, reply, path, status):
    say(reply(status=status))
    with pytest.raises(ServerError):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
    with pytest.raises(UsageError, match="interrupted while it was submitted"):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
    assert len(server.asked) == 1


def test_a_file_that_was_not_uploaded_is_no_batch(server, say, reply, path, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.001)
    say(*[reply(status=502)] * 3)
    with pytest.raises(ServerError):
        batch_chat(chat_of(OpenAI(), server), PROMPTS, path)
    assert not path.exists()


def test_an_upload_is_tried_again_and_a_batch_is_not(server, say, reply, path, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.001)
    file, _ = OpenAI().submitted()
    say(reply(status=502), file, reply(status=504))
    with pytest.raises(ServerError):
        batch_chat(chat_of(OpenAI(), server), PROMPTS, path)
    assert [request.path.rpartition("/")[2] for request in server.asked] == ["files", "files", "batches"]
    assert json.loads(path.read_text())["stage"] == "submitting"


def test_the_file_is_written_right_before_the_batch_is_sent(server, say, path, monkeypatch):
    stages = []
    built = HttpExchange.built

    def watched(self, client, sent):
        stages.append((sent.request.url.rpartition("/")[2], path.exists()))
        return built(self, client, sent)

    monkeypatch.setattr(HttpExchange, "built", watched)
    say(*OpenAI().submitted(), OpenAI().batch("in_progress"))
    assert batch_chat(chat_of(OpenAI(), server), PROMPTS, path, wait=False) is None
    assert stages[:2] == [("files", False), ("batches", True)]


@pytest.fixture
def disk(monkeypatch):
    """Returns a function: the disk takes so many more files of batches, and is full then."""

    def disk(files):
        left = iter(range(files))

        def written(path, data):
            if next(left, None) is None:
                raise OSError(28, "No space left on device")
            path.write_bytes(data)

        monkeypatch.setattr("ellmer_core.jobs.batch.replace_file", written)

    return disk


def test_a_batch_is_not_sent_where_its_file_cannot_be_written(server, say, path, disk):
    disk(0)
    say(*Anthropic().submitted())
    with pytest.raises(OSError, match=r"Nothing was sent. .*batch.json"):
        batch_chat_text(chat_of(Anthropic(), server), PROMPTS, path)
    assert not server.asked


@every_api
@pytest.mark.parametrize("files", range(1, 5))
def test_a_batch_that_was_sent_goes_on_where_its_file_cannot_be_written(
    api, files, server, *, say, path, disk
):
    disk(files)
    say(*api.submitted(), *api.finished({"chat-0": "4", "chat-1": "6"}))
    with pytest.warns(EllmerWarning, match="goes on in memory"):
        assert batch_chat_text(chat_of(api, server), PROMPTS, path, sleep=never) == ["4", "6"]


@every_api
def test_the_error_has_what_is_only_in_memory(api, server, say, path, disk):
    disk(1)
    say(*api.submitted(), api.working())
    with pytest.warns(EllmerWarning), pytest.raises(OSError, match="The batch was submitted") as raised:
        batch_chat_text(chat_of(api, server), PROMPTS, path, wait=False)
    disk(99)
    path.write_text(re.search(r"\{.*\}", str(raised.value))[0])
    say(*api.finished({"chat-0": "4", "chat-1": "6"}))
    assert batch_chat_text(chat_of(api, server), PROMPTS, path) == ["4", "6"]


def test_a_file_of_other_prompts_is_refused(server, say, path):
    say(*Anthropic().submitted(), *Anthropic().finished({"chat-0": "4", "chat-1": "6"}))
    chat = chat_of(Anthropic(), server)
    batch_chat(chat, PROMPTS, path)
    with pytest.raises(UsageError, match="differs in prompts"):
        batch_chat(chat, ["other"], path)
    with pytest.raises(UsageError, match="differs in provider"):
        batch_chat(chat_of(Anthropic(), server, model="claude-opus-5"), PROMPTS, path)
    with pytest.raises(UsageError, match="differs in parameters, history"):
        batch_chat(_changed(server), PROMPTS, path)
    assert batch_chat_text(chat, ["other", "prompts"], path, ignore_hash=True) == ["4", "6"]


def _changed(server):
    chat = chat_of(Anthropic(), server, params={"max_tokens": 3})
    chat.set_turns([UserTurn("Hi"), AssistantTurn("Hello.")])
    return chat


@pytest.mark.parametrize(
    ("text", "words"), [("{", "not the state of a batch"), ("[]", "not the state"),
        ('{"version": 1, "stage": "lost", "asked": {}}', "not the state of a batch: KeyError"),
        ('{"version": 1, "stage": "waiting", "asked": {}}', "not the state of a batch: KeyError"),
        ('{"version": 1, "stage": "done", "asked": {}, "results": 3}', "'results' is not an object"),
        ('{"version": 2, "stage": "done", "asked": {}}', "version 2")]
)  # fmt: skip
def test_a_file_that_is_no_state_is_left_alone(server, path, text, words):
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
    assert path.read_text() == text


def test_answers_that_make_no_sense(server, say, path):
    for answer in (b"<html>", b"[]"):
        say(answer)
        with pytest.raises(ResponseError, match="batch API"):
            batch_chat(chat_of(Anthropic(), server), PROMPTS, path)
        path.unlink()


def test_providers_without_batches_say_so(path):
    with pytest.raises(UsageError, match=r"DeepSeek has no supported batch API.*parallel_chat"):
        batch_chat(chat_deepseek(api_key="k", model="m"), PROMPTS, path)
    assert not batch_chat_completed(chat_anthropic(api_key="k", model="m"), PROMPTS, path)
    assert not path.exists()


def test_tools_stay_here(server, say, path):
    say(*Anthropic().submitted(), *Anthropic().finished({"chat-0": "4", "chat-1": "6"}))
    chat = chat_of(Anthropic(), server)
    chat.register_tool(_add)
    with pytest.warns(EllmerWarning, match="Tools are not sent"):
        batch_chat(chat, PROMPTS, path)
    assert "tools" not in Anthropic().asked(server)["chat-0"]


def _add(a: int) -> int:
    """Adds."""
    return a


def test_chat_completions_have_their_own_endpoint(server, say, path):
    body = {"choices": [{"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}]}
    api = OpenAI()
    lines = line(custom_id="chat-0", response={"status_code": 200, "body": body}, error=None)
    say(*api.submitted(), api.batch("completed", output_file_id="file-out"), lines)
    chat = chat_openai_completions(base_url=server.url, api_key="k", model=MODEL)
    assert batch_chat_text(chat, ["2 + 2?"], path) == ["4"]
    assert server.asked[1].json["endpoint"] == "/v1/chat/completions"


def test_gemini_s_limit_is_known_beforehand(monkeypatch, server, path):
    monkeypatch.setattr(GeminiBatches, "LARGEST", 100)
    with pytest.raises(UsageError, match="100 bytes in one batch"):
        batch_chat(chat_of(Gemini(), server), PROMPTS, path)
    assert server.asked == []
    assert not path.exists()


@every_api
def test_answers_count_in_the_session_once_whoever_waited_for_them(api, server, say, path, monkeypatch):
    monkeypatch.setattr(price_lookup, "_used", {})
    say(*api.submitted(), api.working(), *api.finished({"chat-0": "4", "chat-1": "6"}))
    assert batch_chat(chat_of(api, server), PROMPTS, path, wait=False) is None
    assert batch_chat_completed(chat_of(api, server), PROMPTS, path)
    assert price_lookup.token_usage() == []
    chats = batch_chat(chat_of(api, server), PROMPTS, path)
    [row] = price_lookup.token_usage()
    assert row["input"] == sum(chat.get_tokens()[0]["input"] for chat in chats) > 0
    batch_chat(chat_of(api, server), PROMPTS, path)
    assert price_lookup.token_usage() == [row]
