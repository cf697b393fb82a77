"""What a chat asks its provider beside the conversation: tokens and files. The requests of `transport.single_requests` are loaded when one
is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from ..base.argument_checks import spelt_methods
from ..contents.content import ContentUploaded
from ..contents.turns import UserTurn
from ..conversation.io_operations import Loop
from ..conversation.repaired_turns import repaired
from ..errors import UsageError
from ..transport.http_clients import Connection
from ..wire.base import Wire
from .answers import Input, contents_of
from .state import ChatState

if TYPE_CHECKING:
    from .structured_output import Structured

T = TypeVar("T")


@spelt_methods
class RequestsBeside(ChatState):
    """Base class of `Chat` with its connections.

    Args:
        wire: As in `Chat`.
        system_prompt: As in `Chat`.
        thinking: As in `Chat`.
        profile: As in `Chat`.
        connection: Sends the requests.
    """

    def __init__(
        self, wire: Wire, system_prompt: str | None, thinking: Any, profile: Any, connection: Connection
    ) -> None:
        super().__init__(wire, system_prompt, thinking, profile)
        self._connection = connection

    # --- Tokens ----------------------------------------------------------------------------------------------

    def token_count(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Returns how many tokens an input has, as the provider counts it; the model does not answer.

        Args:
            *inputs: As in `chat()`.
            include: `"new"` (default) counts the inputs alone; `"complete"` counts the whole request with system prompt, tools
                and history.
            type: The `type` of `chat_structured()`; `None` (default) for `chat()`.

        Returns:
            The number of tokens.

        Raises:
            UsageError: The provider does not count tokens. OpenAI (over Responses), Anthropic and Google do.

        Examples:
            >>> chat_openai().token_count("Hi") > 0
            True
        """
        return self._run(self._counted(inputs, include, type))

    async def token_count_async(
        self, *inputs: Input, include: Literal["new", "complete"] = "new", type: Any = None
    ) -> int:
        """Works as `token_count()`, for async code.

        Args:
            *inputs: As in `chat()`.
            include: As in `token_count()`. Default: `"new"`.
            type: As in `token_count()`.

        Returns:
            The number of tokens.

        Examples:
            >>> import asyncio
            >>> asyncio.run(chat_openai().token_count_async("Hi")) > 0
            True
        """
        return await self._arun(self._counted(inputs, include, type))

    def _counted(self, inputs: Sequence[Input], include: str, type: Any) -> Loop[int]:
        from ..tools.tool_search import offered  # noqa: PLC0415 - few chats count tokens beforehand
        from ..transport.single_requests import counted  # noqa: PLC0415 - likewise

        contents, wanted = contents_of(inputs), None if type is None else structured(type).sent
        if include == "complete":
            history = list(self._history.turns)
            new = [self._history.reply(contents)] if contents or self._history.open_requests else []
            turns = repaired([*history, *new]).turns
            tools = offered(self._searchable(), turns, native=self.wire.searches)
            return counted(self.wire, turns, tools, wanted)
        if include == "new" and not contents:
            raise UsageError(
                'There is nothing to count: give an input, or include="complete" for the conversation.'
            )
        if include == "new":
            return counted(self.wire, [UserTurn(contents)], [], wanted)
        raise UsageError(f'include must be "new" or "complete", not {include!r}.')

    # --- Files -----------------------------------------------------------------------------------------------

    def upload(
        self, path: str | Path, *, content_type: str | None = None, expires_in: float | None = None
    ) -> ContentUploaded:
        """Uploads a file to OpenAI, Anthropic or Google, for any number of questions about it.

        Other providers receive the file itself. `delete_upload()` deletes it.

        Args:
            path: Path of the file.
            content_type: Media type; `None` (default) finds it out.
            expires_in: Seconds after which OpenAI deletes it; `None` (default) means never. Google deletes it after 48 hours,
                Anthropic does not delete it.

        Returns:
            The uploaded file, to pass to `chat()`.

        Raises:
            UsageError: The provider has no uploads, or the path is not a regular file.
            ProviderError: The provider refused the file.

        Examples:
            >>> report = chat_anthropic().upload("report.pdf")  # doctest: +SKIP
            >>> chat_anthropic().chat("Summarize it.", report)  # doctest: +SKIP
        """
        return self._run(self._uploaded(path, content_type, expires_in))

    async def upload_async(
        self, path: str | Path, *, content_type: str | None = None, expires_in: float | None = None
    ) -> ContentUploaded:
        """Works as `upload()`, for async code.

        Args:
            path: As in `upload()`.
            content_type: As in `upload()`.
            expires_in: As in `upload()`.

        Returns:
            The uploaded file.

        Examples:
            >>> report = await chat.upload_async("report.pdf")  # doctest: +SKIP
        """
        return await self._arun(self._uploaded(path, content_type, expires_in))

    def delete_upload(self, uploaded: ContentUploaded) -> None:
        """Deletes an uploaded file from the provider. Turns that refer to it can then no longer be sent there.

        Args:
            uploaded: The file.

        Raises:
            ProviderError: The provider answered with an error.

        Examples:
            >>> report = chat.upload("report.pdf")  # doctest: +SKIP
            >>> chat.delete_upload(report)  # doctest: +SKIP
        """
        self._run(self._deleted(uploaded))

    async def delete_upload_async(self, uploaded: ContentUploaded) -> None:
        """Works as `delete_upload()`, for async code.

        Args:
            uploaded: The file.

        Examples:
            >>> await chat.delete_upload_async(report)  # doctest: +SKIP
        """
        await self._arun(self._deleted(uploaded))

    def _uploaded(
        self, path: str | Path, content_type: str | None, expires_in: float | None
    ) -> Loop[ContentUploaded]:
        from ..transport.single_requests import uploaded  # noqa: PLC0415 - few chats store files

        return uploaded(self.wire, path, content_type, expires_in)

    def _deleted(self, file: ContentUploaded) -> Loop[None]:
        from ..transport.single_requests import deleted  # noqa: PLC0415 - few chats store files

        return deleted(self.wire, file)

    # --- Connections -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the connections of blocking calls. The chat can be used again; a client of yours stays open.

        Examples:
            >>> chat = chat_openai()
            >>> _ = chat.chat("Hi")
            >>> chat.close()
        """
        self._connection.close()

    async def aclose(self) -> None:
        """Closes all connections. (Those of async calls are also closed when their event loop ends.)

        Examples:
            >>> import asyncio
            >>> asyncio.run(chat_openai().aclose())
        """
        await self._connection.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def _run(self, loop: Loop[T]) -> T:
        from ..transport.single_requests import run  # noqa: PLC0415 - few chats send such requests

        return run(loop, self._connection)

    async def _arun(self, loop: Loop[T]) -> T:
        from ..transport.single_requests import arun  # noqa: PLC0415 - few chats send such requests

        return await arun(loop, self._connection)


def structured(type: Any, **how: Any) -> Structured:
    """Returns what is known of the type of structured output.

    Args:
        type: As in `chat_structured()`.
        **how: The other arguments of `Structured`.
    """
    from .structured_output import Structured  # noqa: PLC0415 - what reads types takes long to load

    return Structured(type, **how)
