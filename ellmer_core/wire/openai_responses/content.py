"""Responses, requests: converts one content at a time. The model's items keep their ids; ours are parts of messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, assert_never

from ...contents.content import (
    Content,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUnknown,
    ContentUploaded,
)
from ...contents.tool_requests_and_results import ContentToolRequest, ContentToolResult
from ..base import Wire
from ..request_and_stream_merger import Json
from ..shared import content_parts, json_bodies, tool_arguments_and_ids
from ..shared.sent_back_block_shapes import WORD, fits
from .items_sent_back import FIELDS, ITEMS, NOTE

__all__ = ["ResponsesContent"]

_OFFICE = re.compile(r"application/(msword|rtf|vnd\.(apple|ms-|oasis\.opendocument|openxmlformats))")
_SUMMARY = {"type": re.compile("summary_text"), "text": str}


class ResponsesContent(Wire):
    """Converts contents to items and to parts of items."""

    def item_of(self, content: Content) -> Mapping[str, Any]:
        """Returns the provider's data about the item of a content, such as its `id`."""
        if isinstance(content, ContentUnknown):
            return content.data if content.wire == self.name else {}
        own = self.issued(getattr(content, "extra", {})) or {}
        return _legal(own.get("item", {}))

    def item(self, content: Content, *, whole: bool) -> Json | None:
        """Returns one content as an item, or `None` for content that only another provider understands. With `whole`,
        it has its id.
        """
        own = {} if not whole else dict(self.item_of(content))
        item: Json | None = None
        match content_parts.known(content, self.name):
            case ContentText() as said if said.text or own:
                item = self.model_message(said, own)
            case ContentThinking():
                item = own or None
            case ContentToolRequest() as call:
                item = self.call(call, own)
            case ContentUnknown(wire=wire, data=data) if wire == self.name:
                item = dict(data)
            case ContentImageInline(data=data) if own and fits({**own, "result": data}, ITEMS):
                item = {**own, "result": data}
            case ContentJson(value=value):
                item = self.model_message(ContentText(json_bodies.json_text(value)), {})
            case ContentImageInline() | ContentImageRemote() | ContentPDF() | ContentUploaded():
                item = self.model_message(ContentText(content_parts.placeholder(content)), {})
            case ContentToolResult():
                raise content_parts.refused(content, self.name, "only a user turn holds results")
            case ContentText() | ContentUnknown():
                pass
            case never:
                assert_never(never)
        return item

    def model_message(self, content: ContentText, own: Json) -> Json:
        """Returns a message of the model with one part: complete with its id, or else in short form, with plain text
        as a string.
        """
        part = (self.issued(content.extra) or {}).get("part", {})
        if "refusal" in part:
            part = {"type": "refusal", "refusal": content.text}
        elif part:
            noted = part.get("annotations")
            annotations = [one for one in noted if fits(one, NOTE)] if isinstance(noted, list) else []
            part = {"type": "output_text", "text": content.text, **part, "annotations": annotations}
        head = {"type": "message", **own} if own else {}
        return {**head, "role": "assistant", "content": [part] if part else content.text}

    def file(self, file: ContentFile) -> Json | None:
        """Returns text and office documents; https://developers.openai.com/api/docs/guides/file-inputs."""
        medium = file.type.startswith(("audio/", "image/", "video/"))
        if medium or not (file.text or _OFFICE.match(file.type)):
            return None
        data = f"data:{file.type};base64,{file.data}"
        return {"type": "input_file", "filename": file.filename, "file_data": data}

    def call(self, request: ContentToolRequest, own: Json) -> Json:
        """Returns a function_call item with the model's exact arguments."""
        call = {"type": "function_call", "call_id": self.call_id(request.id), "name": request.name}
        return {**own, **call, "arguments": tool_arguments_and_ids.raw(request)}

    def call_id(self, id: str) -> str:
        """Returns an id of 1 to 64 characters (openapi.yaml, FunctionCallOutputItemParam)."""
        return tool_arguments_and_ids.legal_id(id, r".{1,64}")

    def content(self, content: Content) -> Json:
        match content_parts.known(content, self.name):
            case ContentText(text=text):
                part: Json = {"type": "input_text", "text": text}
            case ContentJson(value=value):
                part = {"type": "input_text", "text": json_bodies.json_text(value)}
            case ContentImageInline() as image:
                part = {"type": "input_image", "image_url": content_parts.data_url(image)}
            case ContentImageRemote(url=url, detail=detail):
                part = {"type": "input_image", "image_url": url} | ({"detail": detail} if detail else {})
            case ContentPDF() as pdf:
                part = {
                    "type": "input_file",
                    "filename": pdf.filename,
                    "file_data": content_parts.data_url(pdf),
                }
            case ContentUploaded(uri=uri, type=type, wire=self.name):
                part = {"type": "input_image" if type.startswith("image/") else "input_file", "file_id": uri}
            case ContentUnknown(wire=self.name, data=data):
                part = dict(data)
            case (
                ContentUploaded()
                | ContentUnknown()
                | ContentThinking()
                | ContentToolRequest()
                | ContentToolResult()
            ):
                raise content_parts.refused(content, self.name)
            case never:
                assert_never(never)
        return part


def _legal(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the item in the form that the API accepts back, or nothing if its id is invalid, because it could not
    be looked up.
    """
    if not fits(item.get("id"), (WORD, None)):
        return {}
    kept = {key: value for key, value in item.items() if key not in FIELDS or fits(value, FIELDS[key])}
    if kept.get("type") == "reasoning":
        summary = kept.get("summary")
        kept["summary"] = [one for one in summary if fits(one, _SUMMARY)] if isinstance(summary, list) else []
        return kept if fits(kept, ITEMS) else {}
    return kept
