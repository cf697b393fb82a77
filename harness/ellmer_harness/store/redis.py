"""A store in Redis: one string value for each object, without expiry."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from ..secrets.redaction import clean_url

_SECONDS = 5.0  # for one command, tried twice; a store that does not answer is gone


class RedisStore:
    """A store in Redis. `?prefix=NAME` in the URL separates several stores in one database (default:
    `cassettes`).
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        self._prefix = f"{query.pop('prefix', 'cassettes')}/"
        self.url = clean_url(url)
        self._client = redis.Redis.from_url(
            urlunsplit(parts._replace(query=urlencode(query))),
            socket_connect_timeout=_SECONDS,
            socket_timeout=_SECONDS,
            retry=Retry(ConstantBackoff(0.1), 1),
        )

    def get(self, key: str) -> bytes | None:
        """Returns the object. Redis never returns a part of a value."""
        return self._client.get(self._prefix + key)  # type: ignore[return-value]  # bytes: nothing asked for text

    def put(self, key: str, data: bytes, over: bytes | None = None) -> bool:
        """Writes the object in a transaction, which Redis drops if another client writes the key meanwhile."""
        name = self._prefix + key
        with self._client.pipeline() as pipe:
            pipe.watch(name)  # type: ignore[no-untyped-call]  # redis has no type for it
            now = pipe.get(name)
            if now != over or now == data:
                return bool(now == data)
            pipe.multi()
            pipe.set(name, data)
            try:
                pipe.execute()
            except redis.WatchError:
                return self.get(key) == data
        return True

    def find(self, prefix: str = "") -> list[str]:
        """Returns the keys by SCAN, which does not block other clients."""
        start = self._prefix + prefix
        pattern = "".join(f"[{char}]" if char in "*?[" else char for char in start.replace("\\", "\\\\"))
        found = {name.decode() for name in self._client.scan_iter(match=f"{pattern}*", count=1000)}
        return sorted(name.removeprefix(self._prefix) for name in found)
