"""Google's Gemini API, https://ai.google.dev/api/generate-content."""

from __future__ import annotations

from typing import ClassVar, Unpack

from .._chat.chat import Chat
from ..wire.batches_and_files import Batches, Uploads
from ..wire.gemini.batches_and_files import GeminiBatches, GeminiUploads
from ..wire.gemini.to_wire import Gemini
from ._construction import Options, construct


class GoogleGemini(Gemini):
    """The API of AI Studio (Vertex AI is another provider)."""

    default_model: ClassVar[str] = "gemini-3.5-flash"
    batches: ClassVar[Batches | None] = GeminiBatches()
    uploads: ClassVar[Uploads | None] = GeminiUploads()
    key_vars: ClassVar[tuple[str, ...]] = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    base_url_var: ClassVar[str] = "GOOGLE_GEMINI_BASE_URL"
    base_url_end: ClassVar[str] = "/v1beta"


def chat_google_gemini(system_prompt: str | None = None, **options: Unpack[Options]) -> Chat:
    """Makes a chat with Google's Gemini, with a key of AI Studio.

    Key: `GOOGLE_API_KEY` or `GEMINI_API_KEY`. Default model: `gemini-3.5-flash`. For Vertex AI, use
    `chat_google_vertex()`. API: https://ai.google.dev/api/generate-content.

    Args:
        system_prompt: The system prompt. Default: none.
        options: The keyword arguments of `Options`.

    Returns:
        The chat. Nothing is sent before its first call.

    Raises:
        UsageError: There is no key, or an option is wrong.

    Examples:
        >>> chat_google_gemini(api_key="any-key").get_model()
        'gemini-3.5-flash'
    """
    return construct(GoogleGemini, system_prompt, options)
