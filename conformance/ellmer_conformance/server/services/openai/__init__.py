"""OpenAI's models, token counts, embeddings, moderations, files, uploads, batches, images and audio.

https://developers.openai.com/api/reference/resources/batches
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from ....contract.observed.exchange import Json
from ....contract.readers.json_access import bounded, items_of, object_of, text_of
from ....contract.rule import Refusal
from ....scenarios.script import Say
from ...chat_apis.base import ALNUM, HEX, compact, pretty, sse, utf8, words
from ...http.messages import Reply, plain
from ...model.media_made import picture, sound, words_of_sound
from ..pages import page
from ..service_request import Asked, Batch, File, ServiceRequest, TooMuch, few
from ..vectors import as_base64, texts_of, token_count, vector
from . import responses_websocket, stored_completions, stored_responses
from .kept_objects import KINDS, routes_of

_BAD = "invalid_request_error"
#: The models of each provider with these paths; OpenAI's for any other one.
_MODELS = {
    "openai": ("gpt-4.1", "gpt-4.1-mini", "gpt-5.6-terra", "gpt-5.4-mini", "text-embedding-3-small"),
    "azure": ("gpt-4.1", "gpt-5.6-terra", "text-embedding-3-small"),
    "cerebras": ("gpt-oss-120b",),
    "deepseek": ("deepseek-flash", "deepseek-v4-flash", "deepseek-v4-pro"),
    "fireworks": ("accounts/fireworks/models/gpt-oss-120b",),
    "groq": ("openai/gpt-oss-120b", "openai/gpt-oss-20b", "llama-3.3-70b-versatile"),
    "huggingface": ("openai/gpt-oss-120b",),
    "moonshot": ("kimi-k2.6",),
    "openrouter": ("openai/gpt-5.6-terra", "anthropic/claude-sonnet-5", "google/gemini-3.5-flash"),
    "perplexity": ("perplexity/sonar",),
    "together": ("openai/gpt-oss-120b",),
    "xai": ("grok-4.3",),
}
_OWNERS = {"openai": "system", "groq": "Groq", "deepseek": "deepseek", "xai": "xai"}


def models(service: ServiceRequest) -> Reply:
    """Returns the list of the provider's models."""
    provider = service.provider
    names = _MODELS.get(provider, _MODELS["openai"])
    return service.reply({"object": "list", "data": [_model(name, provider) for name in names]})


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if service.api.no_model(name):
        sentence = f"The model '{name}' does not exist"
        return service.refuse(Refusal(sentence, 404, _BAD, "model_not_found", "model"))
    return service.reply(_model(name, service.provider))


def delete_model(service: ServiceRequest) -> Reply:
    """Says that there is no such fine-tuned model, because the server has none."""
    sentence = f"The model '{service.names['id']}' does not exist"
    return service.refuse(Refusal(sentence, 404, _BAD, "model_not_found", "model"))


def _model(name: str, provider: str) -> Json:
    owner = _OWNERS.get(provider, provider or "system")
    return {"id": name, "object": "model", "created": 1_744_316_542, "owned_by": owner}


def count(service: ServiceRequest) -> Reply:
    """Returns the tokens of a request to Responses."""
    refusal = service.objection("/v1/responses", service.body)
    if refusal:
        return service.refuse(refusal)
    return service.reply(
        {"object": "response.input_tokens", "input_tokens": service.tokens("/v1/responses", service.body)}
    )


def completion(service: ServiceRequest) -> Reply:
    """Answers a prompt as a chat with one message: https://developers.openai.com/api/reference/resources/completions"""
    body = service.body
    if not body.get("model"):
        return service.refuse(Refusal("you must provide a model parameter", 400, _BAD))
    found = [service.ask("completion", "/v1/chat/completions", chat) for chat in _chats(body)]
    failed = next((each for each in found if each.status >= 400), None)
    if failed:
        return plain(failed.status, service.api.headers(stream=False), pretty(failed.body))
    answers = [choice for each in found for choice in each.body["choices"]]
    choices = [_completed(choice, index) for index, choice in enumerate(answers)]
    created, id = service.api.ticket.created, f"cmpl-{service.fresh('completion', 29, ALNUM)}"
    head = {"id": id, "object": "text_completion", "created": created, "model": body["model"]}
    if body.get("stream") is True:
        return Reply(200, service.api.headers(stream=True), [*_chunks(head, choices), sse("[DONE]")])
    counts = [each.body["usage"] for each in found]
    totals = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = {name: sum(count[name] for count in counts) for name in totals}
    return service.reply({**head, "choices": choices, "usage": usage})


def _chats(body: Json) -> Iterator[Json]:
    """Yields a request to Chat Completions for each prompt, to the chat model that a model for completions is named after."""
    names = ("temperature", "top_p", "seed", "stop", "max_tokens", "n")
    model = text_of(body.get("model")).partition("-instruct")[0]
    settings = {"max_tokens": 16, "model": model} | {n: body[n] for n in names if n in body}
    for text in texts_of(body.get("prompt")) or [" "]:
        yield {"messages": [{"role": "user", "content": text}], **settings}


def _completed(choice: Json, index: int) -> Json:
    text, reason = choice["message"]["content"] or "", choice["finish_reason"]
    return {"text": text, "index": index, "logprobs": None, "finish_reason": reason}


def _chunks(head: Json, choices: Sequence[Json]) -> Iterator[bytes]:
    """Yields the events of a stream: the pieces of each text, and then the end of each."""
    for choice in choices:
        for piece in words(Say(choice["text"])):
            yield sse(compact({**head, "choices": [{**choice, "text": piece, "finish_reason": None}]}))
    for choice in choices:
        yield sse(compact({**head, "choices": [{**choice, "text": ""}]}))


# embeddings and moderations ---------------------------------------------------------------------------------

_SIZES = {"text-embedding-3-large": 3072, "mistral-embed": 1024, "codestral-embed": 1536}
_SIZE = 1536  # of the vectors of other models
_SHORTENED = (
    "text-embedding-3-small",
    "text-embedding-3-large",
)  # their vectors may be shorter, and not longer


def embeddings(service: ServiceRequest) -> Reply:
    """Returns a vector for each text. https://developers.openai.com/api/reference/resources/embeddings"""
    body = service.body
    texts = texts_of(body.get("input"))
    name = str(body.get("model") or "")
    if texts is None or not name:
        return service.missing("model" if texts is not None else "input")
    if absent := service.api.no_model(name):
        return service.refuse(absent)
    asked = body.get("dimensions", body.get("output_dimension"))
    size = asked if isinstance(asked, int) and asked > 0 else _SIZES.get(name, _SIZE)
    if name in _SHORTENED and size > _SIZES.get(name, _SIZE):
        sentence = f"Invalid value for 'dimensions' = {size}. Must be less than or equal to {_SIZES.get(name, _SIZE)}."
        return service.refuse(Refusal(sentence, 400, _BAD))
    encode = as_base64 if body.get("encoding_format") == "base64" else list
    data = [
        {"object": "embedding", "index": index, "embedding": encode(vector(text, size))}
        for index, text in enumerate(texts)
    ]
    source = items_of(body.get("input"))
    lists = [items_of(each) or [each] for each in source]
    numbers = [each for tokens in lists for each in tokens if isinstance(each, int)]
    count = len(numbers) or token_count(texts)
    usage = {"prompt_tokens": count, "total_tokens": count}
    id = {"id": sha256(service.http.body).hexdigest()[:32]} if service.provider == "mistral" else {}
    return service.reply({**id, "object": "list", "data": data, "model": name, "usage": usage})


#: The categories of `omni-moderation-latest`, with words for which one is flagged. It is a list for tests, and no
#: judgement of texts.
_FLAGGED: dict[str, tuple[str, ...]] = {
    "harassment": ("idiot", "moron"),
    "harassment/threatening": (),
    "hate": ("hate",),
    "hate/threatening": (),
    "illicit": ("counterfeit",),
    "illicit/violent": (),
    "self-harm": ("suicide",),
    "self-harm/instructions": (),
    "self-harm/intent": (),
    "sexual": ("porn",),
    "sexual/minors": (),
    "violence": ("kill", "murder", "stab"),
    "violence/graphic": (),
}


def moderations(service: ServiceRequest) -> Reply:
    """Returns the categories of each text. https://developers.openai.com/api/reference/resources/moderations"""
    source = service.body.get("input")
    items = source if isinstance(source, list) else [source]
    texts = [text_of(object_of(each).get("text") or each) for each in few(items)]
    if not any(texts):
        return service.missing("input")
    id = f"modr-{service.fresh('moderation', 24, ALNUM)}"
    name = str(service.body.get("model") or "omni-moderation-latest")
    return service.reply({"id": id, "model": name, "results": [_moderated(text) for text in texts]})


def flagged(text: str) -> frozenset[str]:
    """Returns the categories for which a text is flagged."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    return frozenset(category for category, flags in _FLAGGED.items() if not words.isdisjoint(flags))


def _moderated(text: str) -> Json:
    categories = flagged(text)
    found = {category: category in categories for category in _FLAGGED}
    return {
        "flagged": any(found.values()),
        "categories": found,
        "category_scores": {category: 0.98 if flag else 0.0001 for category, flag in found.items()},
        "category_applied_input_types": {category: ["text"] for category in found},
    }


# files ----------------------------------------------------------------------------------------------------


def upload(service: ServiceRequest) -> Reply:
    """Stores a file."""
    fields, file = service.form()
    if service.provider == "mistral":
        fields = {"purpose": "fine-tune", **fields}
    missing = "file" if file is None else "purpose" if not fields.get("purpose") else ""
    if missing or file is None:
        return service.refuse(Refusal(f"'{missing}' is a required property", 400, _BAD))
    seconds = lifetime(fields)
    if isinstance(seconds, Refusal):
        return service.refuse(seconds)
    id = f"file-{service.fresh('file', 22, ALNUM)}"
    stored = service.keep(file._replace(id=id, purpose=fields["purpose"], lifetime=seconds))
    return service.reply(_file(service, stored))


def files(service: ServiceRequest) -> Reply:
    """Returns the list of files."""
    query = dict(service.route.query)
    stored = [file for file in service.stored.files.values() if query.get("purpose") in {None, file.purpose}]
    data = [_file(service, file) for file in (reversed(stored) if query.get("order") == "desc" else stored)]
    return service.reply({"object": "list", **page(service, data, usual=10_000)})


def file(service: ServiceRequest) -> Reply:
    """Returns the metadata of a file."""
    found = service.stored.files.get(service.names["id"])
    return service.reply(_file(service, found)) if found else _no_file(service)


def content(service: ServiceRequest) -> Reply:
    """Returns the content of a file."""
    found = service.stored.files.get(service.names["id"])
    return service.data(found.data, "application/octet-stream") if found else _no_file(service)


def delete(service: ServiceRequest) -> Reply:
    """Deletes a file."""
    found = service.stored.files.pop(service.names["id"], None)
    return service.reply({"object": "file", "deleted": True, "id": found.id}) if found else _no_file(service)


def _file(service: ServiceRequest, file: File) -> Json:
    created = service.api.ticket.created
    facts = {"purpose": file.purpose, "filename": file.name, "bytes": len(file.data), "created_at": created}
    expires = {"expires_at": None if file.lifetime is None else created + file.lifetime}
    state: Json = {"status": "processed", "status_details": None}
    if service.provider == "mistral":
        state = {"sample_type": "batch_request", "source": "upload", "num_lines": None}
    return {"object": "file", "id": file.id, **facts, **expires, **state}


def _no_file(service: ServiceRequest) -> Reply:
    return service.refuse(Refusal(f"No such File object: {service.names['id']}", 404, _BAD, None, "id"))


# uploads in parts, which become one file: https://developers.openai.com/api/reference/resources/uploads ---

_UPLOADS, _PARTS = "upload", "upload.part"


def begin_upload(service: ServiceRequest) -> Reply:
    """Begins an upload."""
    body = service.body
    for name in ("filename", "purpose", "bytes", "mime_type"):
        if not body.get(name):
            return service.missing(name)
    id, created = f"upload_{service.fresh('upload', 32, HEX)}", service.api.ticket.created
    state = {"status": "pending", "created_at": created, "expires_at": created + 3600, "file": None}
    named = {name: body[name] for name in ("filename", "purpose", "bytes")}
    upload: Json = {"id": id, "object": "upload", **named, **state}
    service.stored.kept.setdefault(_UPLOADS, {})[id] = upload
    return service.reply(upload)


def add_part(service: ServiceRequest) -> Reply:
    """Adds a part."""
    upload, (_, data) = _begun(service), service.form()
    if upload is None or data is None:
        return _no_upload(service)
    id = f"part_{service.fresh('part', 32, HEX)}"
    service.keep(data._replace(id=id))
    part = {"id": id, "object": _PARTS, "created_at": service.api.ticket.created, "upload_id": upload["id"]}
    return service.reply(part)


def complete_upload(service: ServiceRequest) -> Reply:
    """Makes a file of the parts, in the order that the request says."""
    upload = _begun(service)
    parts = [service.stored.files.pop(str(id), None) for id in items_of(service.body.get("part_ids"))]
    if upload is None or not parts or None in parts:
        return _no_upload(service)
    data = b"".join(part.data for part in parts if part)
    if len(data) != upload["bytes"]:
        sentence = f"Expected {upload['bytes']} bytes, but the parts have {len(data)}."
        return service.refuse(Refusal(sentence, 400, _BAD))
    file = File(f"file-{service.fresh('file', 22, ALNUM)}", upload["filename"], "", data, upload["purpose"])
    service.keep(file)
    shown = {
        "id": file.id,
        "object": "file",
        "bytes": len(data),
        "filename": file.name,
        "purpose": file.purpose,
    }
    upload |= {
        "status": "completed",
        "file": {**shown, "created_at": upload["created_at"], "status": "processed"},
    }
    return service.reply(upload)


def cancel_upload(service: ServiceRequest) -> Reply:
    """Cancels an upload."""
    upload = _begun(service)
    if upload is None:
        return _no_upload(service)
    upload["status"] = "cancelled"
    return service.reply(upload)


def _begun(service: ServiceRequest) -> Json | None:
    return service.stored.kept.get(_UPLOADS, {}).get(service.names["id"])


def _no_upload(service: ServiceRequest) -> Reply:
    return service.refuse(Refusal(f"No upload or part found with id '{service.names['id']}'.", 404, _BAD))


# batches --------------------------------------------------------------------------------------------------

_MOST_LINES = 50_001  # 50,000 requests, and the end of the last line


def submit(service: ServiceRequest) -> Reply:
    """Accepts a batch whose requests are lines of a file."""
    settings = service.body
    file = service.stored.files.get(str(settings.get("input_file_id")))
    if file is None:
        sentence = f"Invalid 'input_file_id': no file with id '{settings.get('input_file_id')}'."
        return service.refuse(Refusal(sentence, 400, _BAD, None, "input_file_id"))
    try:
        lines = [
            bounded(json.loads(line)) for line in few(file.data.split(b"\n"), _MOST_LINES) if line.strip()
        ]
        requests = [service.ask(line["custom_id"], line["url"], line["body"]) for line in lines]
    except TooMuch:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        return service.refuse(Refusal("The input file is not a list of requests in JSON Lines.", 400, _BAD))
    batch = Batch(f"batch_{service.fresh('batch', 32, HEX)}", requests, settings)
    service.stored.batches[batch.id] = batch
    return service.reply(_batch(service, batch))


def poll(service: ServiceRequest) -> Reply:
    """Returns the status of a batch. The answers of a finished batch are a file."""
    batch = service.look()
    if batch is None:
        return service.refuse(Refusal(f"No batch found with id '{service.names['id']}'.", 404, _BAD))
    if batch.just_done:
        _keep_answers(service, batch)
    return service.reply(_batch(service, batch))


def batches(service: ServiceRequest) -> Reply:
    """Returns the list of batches, the latest first."""
    data = [_batch(service, batch) for batch in reversed(service.stored.batches.values())]
    return service.reply({"object": "list", **page(service, data)})


def cancel(service: ServiceRequest) -> Reply:
    """Cancels a batch that is not done."""
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(Refusal(f"No batch found with id '{service.names['id']}'.", 404, _BAD))
    if batch.done:
        sentence = f"Cannot cancel a batch with status '{_batch(service, batch)['status']}'."
        return service.refuse(Refusal(sentence, 409, _BAD))
    batch.cancelled = True
    return service.reply(_batch(service, batch))


def _keep_answers(service: ServiceRequest, batch: Batch) -> None:
    for failed in (False, True):
        if lines := [_line(a) for a in batch.requests if (a.status >= 400 or a.expired) is failed]:
            text = "".join(f"{compact(line)}\n" for line in lines)
            service.keep(File(_output(batch, failed=failed), "output.jsonl", "", utf8(text), "batch_output"))


def _line(request: Asked) -> Json:
    if request.expired:
        sentence = "This request could not be executed before the completion window expired."
        error = {"code": "batch_expired", "message": sentence}
        return {
            "id": f"batch_req_{request.name}",
            "custom_id": request.name,
            "response": None,
            "error": error,
        }
    response = {"status_code": request.status, "request_id": f"req_{request.name}", "body": request.body}
    return {"id": f"batch_req_{request.name}", "custom_id": request.name, "response": response, "error": None}


def _output(batch: Batch, *, failed: bool) -> str:
    return f"file-{batch.id[6:26]}{'er' if failed else 'ok'}"


def _batch(service: ServiceRequest, batch: Batch) -> Json:
    created, done = service.api.ticket.created, batch.done and not batch.cancelled
    expired = sum(request.expired for request in batch.requests)
    ended = "expired" if expired else "completed"
    status = ended if done else "in_progress" if batch.looks else "validating"
    failed = sum(request.status >= 400 and not request.expired for request in batch.requests)
    succeeded = len(batch.requests) - failed - expired
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.settings.get("endpoint"),
        "model": None,
        "errors": None,
        "input_file_id": batch.settings.get("input_file_id"),
        "completion_window": batch.settings.get("completion_window"),
        "status": "cancelled" if batch.cancelled else status,
        "output_file_id": _output(batch, failed=False) if done and succeeded else None,
        "error_file_id": _output(batch, failed=True) if done and (failed or expired) else None,
        "created_at": created,
        "in_progress_at": created + 60 if batch.looks else None,
        "expires_at": created + 86_400,
        "finalizing_at": created + 120 if done else None,
        "completed_at": created + 121 if done and not expired else None,
        "failed_at": None,
        "expired_at": created + 86_400 if done and expired else None,
        "cancelling_at": created + 60 if batch.cancelled else None,
        "cancelled_at": created + 61 if batch.cancelled else None,
        "request_counts": {
            "total": len(batch.requests) if batch.looks else 0,
            "completed": succeeded if done else 0,
            "failed": failed if done else 0,
        },
        "metadata": batch.settings.get("metadata"),
    }


# --- Images and audio -----------------------------------------------------------------------------------


#: An image is of one colour, speech carries its words, and the words of such a sound are read again:
#: https://developers.openai.com/api/reference/resources/images, https://developers.openai.com/api/reference/resources/audio
_MOST_IMAGES = 10  # images of one request


def images(service: ServiceRequest) -> Reply:
    """Returns images for a prompt. Edits and variations come as a form."""
    fields = {**service.form()[0], **service.body}
    prompt = str(fields.get("prompt") or "")
    if not prompt and not service.route.path.endswith("variations"):
        return service.missing("prompt")
    if absent := service.api.no_model(str(fields.get("model") or "")):
        return service.refuse(absent)
    asked = str(fields.get("n") or 1)
    count = min(int(asked), _MOST_IMAGES) if asked.isdecimal() else 1
    data = [{"b64_json": b64encode(picture(prompt)).decode()} for _ in range(max(1, count))]
    read, written = len(prompt) // 4 + 1, 272 * len(data)
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": read},
        "output_tokens": written,
        "output_tokens_details": {"image_tokens": written, "text_tokens": 0},
        "total_tokens": read + written,
    }
    settings = {name: fields.get(name, default) for name, default in _IMAGE_SETTINGS.items()}
    return service.reply({"created": service.api.ticket.created, **settings, "data": data, "usage": usage})


_IMAGE_SETTINGS = {"background": "opaque", "output_format": "png", "quality": "low", "size": "1024x1024"}


def speech(service: ServiceRequest) -> Reply:
    """Returns a text as a WAV file, whatever format is asked for."""
    body = service.body
    for name in ("model", "input", "voice"):
        if not body.get(name) and not (service.provider == "mistral" and name != "input"):
            return service.missing(name)
    if absent := service.api.no_model(str(body.get("model") or "")):
        return service.refuse(absent)
    return service.data(sound(str(body["input"])), "audio/wav")


def transcription(service: ServiceRequest) -> Reply:
    """Returns the words of a sound that this server made, or a sentence about another one."""
    fields, file = service.form()
    if file is None:
        return service.missing("file")
    text = words_of_sound(file.data) or f"I hear a sound of {len(file.data):,} bytes."
    if fields.get("response_format") in {"text", "srt", "vtt"}:
        return service.data(f"{text}\n".encode(), "text/plain; charset=utf-8")
    seconds = max(1, len(file.data) // 48_000)
    return service.reply({"text": text, "usage": {"type": "duration", "seconds": seconds}})


# --- Routes ---------------------------------------------------------------------------------------------


ROUTES = tuple(
    (method, re.compile(rf"(^|/v1){path}/?$"), serve)
    for method, path, serve in (
        ("GET", "/models", models),
        ("GET", "/models/(?P<id>[^/]+)", model),
        ("DELETE", "/models/(?P<id>[^/]+)", delete_model),
        ("POST", "/responses/input_tokens", count),
        ("POST", "/embeddings", embeddings),
        ("POST", "/moderations", moderations),
        ("POST", "/files", upload),
        ("GET", "/files", files),
        ("GET", "/files/(?P<id>[^/]+)", file),
        ("GET", "/files/(?P<id>[^/]+)/content", content),
        ("DELETE", "/files/(?P<id>[^/]+)", delete),
        ("POST", "/batches", submit),
        ("GET", "/batches", batches),
        ("POST", "/batches/(?P<id>[^/]+)/cancel", cancel),
        ("GET", "/batches/(?P<id>[^/]+)", poll),
        ("POST", "/completions", completion),
        ("POST", "/uploads", begin_upload),
        ("POST", "/uploads/(?P<id>[^/]+)/parts", add_part),
        ("POST", "/uploads/(?P<id>[^/]+)/complete", complete_upload),
        ("POST", "/uploads/(?P<id>[^/]+)/cancel", cancel_upload),
        ("POST", "/images/generations", images),
        ("POST", "/images/edits", images),
        ("POST", "/images/variations", images),
        ("POST", "/audio/speech", speech),
        ("POST", "/audio/transcriptions", transcription),
        ("POST", "/audio/translations", transcription),
        *stored_completions.ROUTES,
        *responses_websocket.ROUTES,
        *stored_responses.ROUTES,
        *routes_of(KINDS),
    )
)


# --- when a file expires ---------------------------------------------------------------------------------


_SHORTEST, _LONGEST = 3_600, 2_592_000  # seconds: an hour, and 30 days
_ANCHOR, _SECONDS = "expires_after.anchor", "expires_after.seconds"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def lifetime(fields: Mapping[str, str]) -> int | Refusal | None:
    """Returns the seconds until a file expires, or OpenAI's error for wrong fields. Without the fields, a file for
    batches expires after 30 days, and other files do not expire.
    """
    anchor, seconds = fields.get("expires_after[anchor]"), fields.get("expires_after[seconds]")
    if anchor is None and seconds is None:
        return _LONGEST if fields.get("purpose") == "batch" else None
    if anchor is None or seconds is None:
        missing = _ANCHOR if anchor is None else _SECONDS
        return _refusal(f"Missing required parameter: '{missing}'.", "missing_required_parameter", missing)
    if anchor != "created_at":
        sentence = f"Invalid value: '{anchor}'. Supported values are: 'created_at'."
        return _refusal(sentence, "invalid_value", _ANCHOR)
    if not _INTEGER.fullmatch(seconds):
        sentence = f"Invalid type for '{_SECONDS}': expected an integer, but got a string instead."
        return _refusal(sentence, "invalid_type", _SECONDS)
    return _out_of_range(int(seconds)) or int(seconds)


def _out_of_range(seconds: int) -> Refusal | None:
    if _SHORTEST <= seconds <= _LONGEST:
        return None
    below = seconds < _SHORTEST
    side, bound = ("below minimum", f">= {_SHORTEST}") if below else ("above maximum", f"<= {_LONGEST}")
    sentence = f"integer {side} value. Expected a value {bound}, but got {seconds} instead."
    code = f"integer_{'below_min' if below else 'above_max'}_value"
    return _refusal(f"Invalid '{_SECONDS}': {sentence}", code, _SECONDS)


def _refusal(message: str, code: str, param: str) -> Refusal:
    return Refusal(message, 400, "invalid_request_error", code, param)


NOT_SERVED = (
    "/agents", "/assistants", "/audio/voice_consents", "/audio/voices", "/chatkit", "/containers/{id}/files/{id}/content",
    "/content_provenance_checks", "/decisions", "/evals", "/fine_tuning", "/live", "/organization", "/projects", "/realtime",
    "/safety", "/skills", "/threads", "/vaults", "/vector_stores/{id}", "/videos/{id}", "/webhook_endpoints",
    "/webhook_event_types",
)  # fmt: skip
