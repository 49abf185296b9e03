"""Parses JSON of a table's files."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes | bytearray) -> Any:
    """Parse JSON like `json.loads`, but raise ValueError also if the JSON is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deep") from None
