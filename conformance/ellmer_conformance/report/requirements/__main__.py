"""Prints today's rules as a requirement set, to be saved under its id when it is published."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from datetime import UTC, datetime

from ...adapters.endpoints import WHERE
from . import LATEST, as_of_now

id = sys.argv[1] if len(sys.argv) > 1 else LATEST
vendors: dict[str, list[str]] = defaultdict(list)
for wire, vendor in sorted(WHERE):
    vendors[wire].append(vendor)
today = datetime.now(UTC).date().isoformat()
print(json.dumps(as_of_now(id, today, vendors), indent=1))  # noqa: T201 - a program
