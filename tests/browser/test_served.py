"""`live_browser()` from a script and from a notebook: it serves until Ctrl-C, and the program continues."""

import re
import signal
import subprocess
import sys

import httpx
import pytest

SERVED = """
import asyncio, signal, sys
import ellmer_core as ec

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
chat = ec.chat_anthropic(api_key="none", model="m")

async def in_a_notebook():
    ec.live_browser(chat, launch=False)

asyncio.new_event_loop().run_until_complete(in_a_notebook()) if sys.argv[1:] else ec.live_browser(chat, launch=False)
print("and on it goes", chat.get_turns())
"""


@pytest.mark.parametrize("where", [[], ["notebook"]])
def test_it_is_served_until_it_is_interrupted(where):
    program = subprocess.Popen([sys.executable, "-c", SERVED, *where], stdout=subprocess.PIPE, text=True)
    with program, httpx.Client(trust_env=False) as client:
        address = re.search(r"http://127\.0\.0\.1:\d+", program.stdout.readline()).group()
        assert client.get(address, headers={"host": "evil.example"}).status_code == 403
        program.send_signal(signal.SIGINT)
        said, _ = program.communicate(timeout=30)

    assert said == "and on it goes []\n"
    assert program.returncode == 0
