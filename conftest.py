"""Settings for every test: no test depends on the machine's speed, Ctrl-C works, and system certificates are not
read.
"""

import gc
import os
import signal
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import certifi
import pytest

if find_spec("hypothesis"):  # the sessions for browsers and services do without it
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "any machine",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=int(os.environ.get("NEW_EXAMPLES") or 40),
        derandomize="NEW_EXAMPLES" not in os.environ,  # the same examples each time, unless asked for others
    )
    settings.load_profile("any machine")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background of a shell, as are its children
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: New objects are searched for garbage less often than Python does: also while the tests are collected, which makes many.
gc.set_threshold(50_000, 20, 100)

#: Marks of tests that take long. A session of this name runs them; `pytest` runs them if their file is named.
SESSIONS = ("slow", "invariants")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of other sessions, unless a mark is asked for, a file is named, or ALL_TESTS is set."""
    if config.option.markexpr or "ALL_TESTS" in os.environ:
        return
    named = {Path(config.invocation_params.dir, arg.partition("::")[0]).resolve() for arg in config.args}
    left = [item for item in items if elsewhere(item) and item.path not in named]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]


def elsewhere(item: pytest.Item) -> bool:
    """Tells whether a test belongs to a session of its own."""
    return any(item.get_closest_marker(mark) for mark in SESSIONS)


def pytest_collection_finish() -> None:
    """Freezes loaded objects, because pytest runs inside tests collect garbage and would search them each time."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def few_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Replaces the certificates, because reading them takes the most time of making a client, and no test uses TLS
    with other hosts.

    Processes of tests read one certificate; this process reads none.
    """
    bundle = Path(certifi.where()).read_text(encoding="utf-8")
    one = tmp_path_factory.mktemp("certificates") / "one.pem"
    one.write_text("".join(bundle.partition("-----END CERTIFICATE-----")[:2]) + "\n", encoding="utf-8")
    world = {"cacert.pem", one.name}  # so do certifi and botocore call their files
    load = ssl.SSLContext.load_verify_locations

    def unless_bundled(
        context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None
    ) -> None:
        if cafile is None or Path(cafile).name not in world:
            load(context, cafile, capath, cadata)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(one))
        patch.delenv("SSL_CERT_DIR", raising=False)
        patch.setattr(ssl.SSLContext, "load_verify_locations", unless_bundled)
        patch.setattr(ssl.SSLContext, "load_default_certs", lambda *_, **__: None)
        yield
