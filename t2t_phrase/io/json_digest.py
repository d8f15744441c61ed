"""Digests of values as JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def json_digest(value: Any) -> str:
    """Return the SHA-256 checksum of a JSON-ready value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
