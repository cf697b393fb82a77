"""What holds for every test: none fails because the machine is slow."""

from importlib.util import find_spec

if find_spec("hypothesis"):  # the sessions for browsers and services do without it
    from hypothesis import HealthCheck, settings

    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
