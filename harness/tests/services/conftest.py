"""A real Redis and a real S3 server on 127.0.0.1."""

import contextlib
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass

import pytest
from servers.s3 import absent, s3


@dataclass
class RedisServer:
    """A local redis-server, which loses its data when it is stopped."""

    folder: object
    port: int = 0
    process: subprocess.Popen | None = None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        pytest.fail("redis-server does not answer")

    def stop(self):
        """Stops the server by its process id."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)
            self.process = None


@pytest.fixture
def redis_server(tmp_path):
    if not shutil.which("redis-server"):
        absent("redis-server is not installed (Debian: apt-get install redis-server)")
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def s3_server(monkeypatch):
    with s3(monkeypatch) as server:
        yield server


@pytest.fixture(params=["redis", "s3"])
def service(request):
    """Runs each test against both. `url` names the store, and `stop()` stops it."""
    return request.getfixturevalue(f"{request.param}_server")
