"""What holds for every test: none fails because the machine is slow, all heed Ctrl-C, and none reads the certificates of
the world."""

import signal
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

import pytest

if find_spec("hypothesis"):  # the sessions for browsers and services do without it
    from hypothesis import HealthCheck, settings

    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")

#: How certifi and botocore name the file of the world's certificates.
BUNDLE = "cacert.pem"


if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background of a shell, as are its children
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def no_certificates() -> Iterator[None]:
    """No test speaks TLS with the world: reading its certificates is what takes longest when a client is made."""
    load = ssl.SSLContext.load_verify_locations

    def unless_bundled(
        context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None
    ) -> None:
        if cafile is None or PurePath(cafile).name != BUNDLE:
            load(context, cafile, capath, cadata)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", unless_bundled)
        patch.setattr(ssl.SSLContext, "load_default_certs", lambda *_, **__: None)
        yield
