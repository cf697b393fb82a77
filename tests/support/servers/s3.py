"""A real S3 server on 127.0.0.1, for the tests of the session `services`."""

import os
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import pytest


def absent(what):
    """Fails if a server program is missing and these tests were selected."""
    text = f"{what}; nothing was tested"
    pytest.fail(text) if os.environ.get("SERVICES_REQUIRED") else pytest.skip(text)


@dataclass
class S3Server:
    moto: object
    url: str

    def stop(self):
        self.moto.stop()


@contextmanager
def s3(monkeypatch):
    """Yields a server with a bucket, which this process and its children use."""
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
