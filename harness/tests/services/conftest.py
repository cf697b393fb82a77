"""A real Redis and a real S3 server on 127.0.0.1."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from uuid import uuid4

import pytest

REQUIRED = os.environ.get("SERVICES_REQUIRED")


def absent(what):
    """Fails if a server program is missing and these tests were selected."""
    text = f"{what}; nothing was tested"
    pytest.fail(text) if REQUIRED else pytest.skip(text)


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


@dataclass
class S3Server:
    moto: object
    url: str

    def stop(self):
        self.moto.stop()


@pytest.fixture
def s3_server(monkeypatch):
    try:
        from moto.server import ThreadedMotoServer
        from s3fs import S3FileSystem
    except ImportError as error:
        absent(f"an S3 server and its client are not installed ({error}; PyPI: moto[server], s3fs)")
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    bucket = f"b-{uuid4().hex}"
    S3FileSystem().mkdir(bucket)
    yield S3Server(moto, f"s3://{bucket}/some/prefix")
    S3FileSystem.clear_instance_cache()
    moto.stop()


@pytest.fixture(params=["redis", "s3"])
def service(request):
    """Runs each test against both. `url` names the store, and `stop()` stops it."""
    return request.getfixturevalue(f"{request.param}_server")
