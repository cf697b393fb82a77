"""Importing touches no network, and starts no process: an audit hook of the interpreter would tell."""

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil, sys

FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendto", "urllib.", "http.client.",
             "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system")
told = []
sys.addaudithook(lambda event, args: told.append((event, args)) if event.startswith(FORBIDDEN) else None)

import ellmer_core
for name in ellmer_core.__all__:
    getattr(ellmer_core, name)
count, absent = 0, []
import ellmer_conformance.cli
for package in ("ellmer_core", "ellmer_harness"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
            count += 1
        except ImportError as error:
            absent.append(error.name)
print(count, sorted({str(name).partition(".")[0] for name in absent}))
assert not told, told[:5]
assert count > 200, (count, absent)
assert not [name for name in absent if str(name).startswith("ellmer")], absent
"""


def test_no_module_touches_the_network_when_it_is_imported():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
