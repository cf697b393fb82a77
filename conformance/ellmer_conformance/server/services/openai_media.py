"""OpenAI's images and sounds: an image of one colour, speech that carries its words, and the words of such a sound.

https://developers.openai.com/api/reference/resources/images, https://developers.openai.com/api/reference/resources/audio
"""

from __future__ import annotations

from base64 import b64encode

from ..http.messages import Reply
from ..model.media_made import picture, sound, words_of_sound
from .service_request import ServiceRequest

_MOST = 10  # images of one request


def images(service: ServiceRequest) -> Reply:
    """Returns images for a prompt. Edits and variations come as a form."""
    fields = {**service.form()[0], **service.body}
    prompt = str(fields.get("prompt") or "")
    if not prompt and not service.route.path.endswith("variations"):
        return service.missing("prompt")
    if absent := service.api.no_model(str(fields.get("model") or "")):
        return service.refuse(absent)
    asked = str(fields.get("n") or 1)
    count = min(int(asked), _MOST) if asked.isdecimal() else 1
    data = [{"b64_json": b64encode(picture(prompt)).decode()} for _ in range(max(1, count))]
    read, written = len(prompt) // 4 + 1, 272 * len(data)
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": read},
        "output_tokens": written,
        "output_tokens_details": {"image_tokens": written, "text_tokens": 0},
        "total_tokens": read + written,
    }
    settings = {name: fields.get(name, default) for name, default in _SETTINGS.items()}
    return service.reply({"created": service.api.ticket.created, **settings, "data": data, "usage": usage})


_SETTINGS = {"background": "opaque", "output_format": "png", "quality": "low", "size": "1024x1024"}


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


ROUTES = (
    ("POST", "/images/generations", images),
    ("POST", "/images/edits", images),
    ("POST", "/images/variations", images),
    ("POST", "/audio/speech", speech),
    ("POST", "/audio/transcriptions", transcription),
    ("POST", "/audio/translations", transcription),
)
