"""Records the tests without a key: the strict server plays the model. With a key, use pytest --cassette-mode=record."""

from __future__ import annotations

import os
import subprocess
import sys

from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer

OSLO = {"city": "Oslo"}
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
}


def main() -> int:
    """Records each test with its own script, and returns pytest's exit code."""
    codes = []
    with StrictServer(MODEL) as server:
        for name in MODEL:
            place = {"OPENAI_API_KEY": "any-key", "STRICT_SERVER": server.url(name, "1")}
            env = {**os.environ, **place, "RECORDED_FROM": "strict-server"}
            env.pop("OPENAI_BASE_URL", None)  # the recordings have the provider's own address
            command = [sys.executable, "-m", "pytest", "-q", "--cassette-mode=rewrite", "-k", name]
            codes.append(subprocess.run(command, env=env, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
