"""Writes `reached.json` anew."""

from __future__ import annotations

import json
from pathlib import Path

from . import measured

FILE = Path(__file__).with_name("reached.json")

if __name__ == "__main__":
    FILE.write_text(json.dumps(measured(Path("cassettes")), indent=1) + "\n", encoding="utf-8")
