"""Real MCP servers for tests: over stdin and stdout, and over HTTP on 127.0.0.1."""

import socket
import subprocess
from contextlib import contextmanager
from threading import Event


@contextmanager
def over_http(command):
    """Yields the URL of a server that gets its port as last argument."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL)
    try:
        while True:
            assert process.poll() is None
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                Event().wait(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@contextmanager
def over_stdio(command):
    yield command
