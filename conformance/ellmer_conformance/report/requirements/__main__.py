"""Prints today's rules as a requirement set, to be saved under its id when it is published."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

from . import LATEST, as_of_now, providers

id = sys.argv[1] if len(sys.argv) > 1 else LATEST
today = datetime.now(UTC).date().isoformat()
print(json.dumps(as_of_now(id, today, providers()), indent=1))  # noqa: T201 - a program
