"""Files that a chat's provider stores."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

from ..contents.content import ContentFile, ContentImageInline, ContentPDF, ContentUploaded
from ..conversation.io_operations import Clock, Loop, Wait
from ..errors import ResponseError, UsageError
from ..transport.http_clients import Connection
from ..transport.single_requests import arun, asked, run, stepped
from ..wire.base import Wire
from ..wire.batches_and_files import Uploads

__all__ = ["Uploading"]

PAUSE, LONGEST = 2.0, 600.0  # seconds: between two looks at a file that is not ready, and in all


class Uploading:
    """The part of a `Chat` that uploads files."""

    wire: Wire
    _connection: Connection

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
        """
        return run(self._uploading(path, content_type, expires_in), self._connection)

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
        """
        return await arun(self._uploading(path, content_type, expires_in), self._connection)

    def delete_upload(self, uploaded: ContentUploaded) -> None:
        """Deletes an uploaded file from the provider. Turns that refer to it can then no longer be sent there.

        Args:
            uploaded: The file.

        Raises:
            ProviderError: The provider answered with an error.
        """
        run(self._deleting(uploaded), self._connection)

    async def delete_upload_async(self, uploaded: ContentUploaded) -> None:
        """Works as `delete_upload()`, for async code.

        Args:
            uploaded: The file.
        """
        await arun(self._deleting(uploaded), self._connection)

    def _uploads(self) -> Uploads:
        if self.wire.uploads is None:
            raise UsageError(
                f"{self.wire.provider} does not store files over this API. Use content_file(), which sends the file with the request."
            )
        return self.wire.uploads

    def _uploading(
        self, path: str | Path, content_type: str | None, expires_in: float | None
    ) -> Loop[ContentUploaded]:
        from ..contents.files import content_file  # noqa: PLC0415 - few chats upload

        wire, uploads = self.wire, self._uploads()
        content: ContentFile | ContentImageInline | ContentPDF = content_file(path, content_type)
        steps = uploads.upload(wire, b64decode(content.data), content.type, Path(path).name, expires_in)
        stored = yield from stepped(wire, steps, max_tries=1)
        waited = 0.0
        while not stored.ready:
            if waited >= LONGEST or (look := uploads.poll(wire, stored.uri)) is None:
                raise ResponseError(f"{path} was uploaded, but is not ready after {waited:g} seconds.")
            yield Wait(PAUSE, PAUSE)
            waited += PAUSE
            stored = uploads.polled((yield from asked(wire, look)))
        expires = stored.expires((yield Clock(wall=True)))
        return ContentUploaded(stored.uri, content.type, wire.name, wire.provider, expires, source=content)

    def _deleting(self, uploaded: ContentUploaded) -> Loop[None]:
        if not self.wire.holds(uploaded):
            raise UsageError(
                f"The file was uploaded to {uploaded.provider or uploaded.wire}, not to {self.wire.provider}."
            )
        yield from asked(self.wire, self._uploads().delete(self.wire, uploaded.uri))
