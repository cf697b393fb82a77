"""Names of cassettes."""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["file_name"]

_LONGEST = 100


def file_name(test: str) -> str:
    """Returns a name that every file system accepts. Different tests have different names."""
    slug = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII).strip("-")
    if slug == test and len(slug) <= _LONGEST:
        return slug
    return f"{slug[:_LONGEST]}-{sha256(test.encode(errors='surrogatepass')).hexdigest()[:8]}"
