"""Records the tests without a key: the strict server plays the model. With a key, use pytest --cassette-mode=record."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer

OSLO = {"city": "Oslo"}
PORT = "8765"
MODEL = {
    "test_it_looks_temperatures_up": Script(
        (Answer((Call("temperatures", OSLO),)), Answer((Say("It warmed from -3 to 2 °C."),)))
    ),
    "test_it_sees_its_own_chart": Script(
        (
            Answer((Call("temperatures", OSLO),)),
            Answer((Call("chart", {"celsius": [-3, -1, 2]}),)),
            Answer((Say("Three bars: each day was warmer."),)),
        )
    ),
    "test_it_packs_for_the_weather": Script(
        (
            Answer((Call("read_file", {"name": "packing.txt"}),)),
            Answer((Call("forecast", OSLO),)),
            Answer((Say("The umbrella: it will rain."),)),
        )
    ),
}


@contextmanager
def weather_server() -> Iterator[str]:
    """Yields the address of the MCP server of the weather, which runs meanwhile."""
    with subprocess.Popen([sys.executable, "servers.py", "weather", PORT]) as process:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", int(PORT))):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{PORT}"
        process.terminate()


def main() -> int:
    """Records each test with its own script, and returns pytest's exit code."""
    codes = []
    with StrictServer(MODEL) as server, weather_server() as weather:
        for name in MODEL:
            place = {
                "OPENAI_API_KEY": "any-key",
                "STRICT_SERVER": server.url(name, "1"),
                "WEATHER_SERVER": weather,
            }
            env = {**os.environ, **place, "RECORDED_FROM": "strict-server"}
            env.pop("OPENAI_BASE_URL", None)  # the recordings have the provider's own address
            command = [sys.executable, "-m", "pytest", "-q", "--cassette-mode=rewrite", "-k", name]
            codes.append(subprocess.run(command, env=env, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
