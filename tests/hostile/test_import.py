"""Importing uses no network and starts no process: an audit hook of the interpreter checks it."""

import subprocess
import sys

import pytest

PROGRAM = """
import importlib, pkgutil, sys

FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendto", "urllib.", "http.client.",
             "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system")
told = []
sys.addaudithook(lambda event, args: told.append((event, args)) if event.startswith(FORBIDDEN) else None)

import ellmer_core
for name in ellmer_core.__all__:
    getattr(ellmer_core, name)
import ellmer_core.providers as providers
for module in pkgutil.iter_modules(providers.__path__, "ellmer_core.providers."):
    importlib.import_module(module.name)
import ellmer_harness.pytest.plugin, ellmer_harness.cli, ellmer_harness.cassette.cassette_file
import ellmer_conformance.cli, ellmer_conformance.server.engine
assert not told, told[:5]
"""


@pytest.mark.slow
def test_an_import_touches_no_network():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
