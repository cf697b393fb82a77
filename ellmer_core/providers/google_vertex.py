"""Gemini on Google Cloud's Vertex AI, https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..contents.content import Content, ContentToolRequest
from ..wire.base import Wire
from ..wire.gemini.from_wire import VERTEX_NUMBERS
from ..wire.gemini.to_wire import Gemini
from ..wire.interfaces import Json
from ._cloud import google_credentials
from ._construction import Options, construct, setting


@dataclass(frozen=True, eq=False, repr=False)
class GoogleVertex(Gemini):
    """Vertex AI downloads files from URLs and buckets. It has no ids of tool calls: `Unknown name "id" at
    'contents[1].parts[0].function_call': Cannot find field.` (https://github.com/vercel/ai/issues/15664).
    """

    provider: ClassVar[str] = "Google/Vertex"
    default_model: ClassVar[str] = "gemini-3.5-flash"
    example_url: ClassVar[str] = (
        "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/example-project/locations/us-central1"
        "/publishers/google"
    )

    finish_numbers: ClassVar[Sequence[str]] = VERTEX_NUMBERS
    fetches: ClassVar[tuple[str, ...]] = (*Wire.fetches, "gs:")

    base_url: str = ""
    bearer: bool = True

    def counting(self, body: Json) -> Json:
        return body

    def models_url(self) -> str:
        """Returns the URL of the list of models, which belongs to no project."""
        host, _, _ = self.base_url.partition("/projects/")
        return f"{host}/publishers/google/models?pageSize=1000"

    def headers(self) -> dict[str, str]:
        return Wire.headers(self) if self.bearer else super().headers()

    def server_id(self, request: ContentToolRequest) -> Json:  # noqa: ARG002 - see above
        return {}

    def remote(self, content: Content, url: str) -> Json:  # noqa: ARG002 - the URL is all there is
        return {"fileData": {"mimeType": guess_type(url)[0] or "image/jpeg", "fileUri": url}}


def chat_google_vertex(
    system_prompt: str | None = None,
    *,
    project: str | None = None,
    location: str | None = None,
    **options: Unpack[Options],
) -> Chat:
    """Makes a chat with Gemini on Google Cloud's Vertex AI.

    Key: `api_key=`, `credentials=` (a function that returns an access token), or the application default credentials of
    google-auth. Project: `GOOGLE_CLOUD_PROJECT`. Location: `GOOGLE_CLOUD_LOCATION` (default: `global`). Default model:
    `gemini-3.5-flash`. Vertex AI has no ids of tool calls (https://github.com/vercel/ai/issues/15664). API:
    https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference.

    Args:
        system_prompt: The system prompt. Default: none.
        project: The id of the Google Cloud project. Default: `GOOGLE_CLOUD_PROJECT`.
        location: The region, for example `europe-west4`. Default: `GOOGLE_CLOUD_LOCATION`, else `global`.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: The project or the credentials are missing, or an option is wrong.

    Examples:
        >>> chat_google_vertex(project="my-project", api_key="any-key").get_model()
        'gemini-3.5-flash'
    """
    if not options.get("base_url"):
        place = location or os.environ.get("GOOGLE_CLOUD_LOCATION") or "global"
        path = f"projects/{setting('project', project, 'GOOGLE_CLOUD_PROJECT')}/locations/{place}"
        host = "" if place == "global" else f"{place}-"
        options["base_url"] = f"https://{host}aiplatform.googleapis.com/v1beta1/{path}/publishers/google"
    bearer = options.get("api_key") is None
    if bearer and options.get("credentials") is None:
        options["credentials"] = google_credentials()
    return construct(GoogleVertex, system_prompt, options, bearer=bearer)
