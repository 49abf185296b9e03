"""The main loop of the Hudi peer: reads one request per line from standard input, and writes one response per line to
standard output.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .session import causes
from .table import PeerTable


def main() -> None:
    """Serve requests until standard input ends. Spark's output is redirected to standard error, to keep the responses
    clean.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as answers:
        os.dup2(2, 1)
        tables: dict[str, PeerTable] = {}
        for line in sys.stdin:
            answers.write(json.dumps(_answer(tables, json.loads(line))) + "\n")


def _answer(tables: dict[str, PeerTable], request: dict[str, Any]) -> dict[str, Any]:
    step, path = request.pop("do"), request.pop("table")
    try:
        if step in ("create", "open"):
            tables[path] = getattr(PeerTable, step)(path, **request)
            return {"ok": None}
        if step == "forget":
            tables.pop(path).close()
            return {"ok": None}
        return {"ok": getattr(tables[path], step)(**request)}
    except Exception as error:  # the caller decides what a refusal means
        return {"error": causes(error)}


main()
