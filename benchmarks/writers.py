"""Two writers in two processes, on one core each: at once, against one after the other."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from . import progress
from .inputs import Inputs
from .side import Side, hudi_is_there

COMMITS: Final = 4
ROWS: Final = 25_000
BUCKETS: Final = 4


def run(folder: Path) -> dict[str, Any]:
    """Seconds for the same commits, by side: `apart` one process after the other, `at_once` both."""
    names = ["ours", *(["hudi"] if hudi_is_there() else [])]
    return {"rows": ROWS, "commits": COMMITS, "sides": [_measured(name, folder) for name in names]}


def _measured(name: str, folder: Path) -> dict[str, Any]:
    with ExitStack() as stack:
        pair = [Side(name, folder / f"writer-{name}-{number}.log", cores=1) for number in (1, 2)]
        for side in pair:
            stack.callback(side.close)
        maker = pair[0] if name == "ours" else Side("ours", folder / "maker.log")
        stack.callback(maker.close)
        inputs = Inputs(maker, folder / "inputs")
        shares = [[inputs.path(ROWS, first=(2 * n + who) * ROWS, ordering=1) for n in range(COMMITS)] for who in (0, 1)]
        table = {"path": str(folder / f"pair-{name}"), "buckets": BUCKETS, "blocks": "avro"}
        pair[0].do("fresh", **table)
        pair[0].do("upsert", data=shares[0][0])
        pair[1].do("join", **table)
        for side, share in zip(pair, shares, strict=True):  # warm
            side.do("upsert", data=share[0])
        apart, at_once = _apart(pair, shares), _at_once(pair, shares)
        found = pair[0].do("count").answer
    rows = 2 * COMMITS * ROWS
    assert found == rows, f"{name} has {found} rows, not {rows}"
    return {"side": name, "apart": apart, "at_once": at_once, "gain": round(apart / at_once, 2)}


def _apart(pair: list[Side], shares: list[list[str]]) -> float:
    began = time.perf_counter()
    for side, share in zip(pair, shares, strict=True):
        for data in share:
            side.do("upsert", data=data)
    return time.perf_counter() - began


def _at_once(pair: list[Side], shares: list[list[str]]) -> float:
    began = time.perf_counter()
    with progress.during(f"{pair[0].name}: two writers at once"):
        for side, share in zip(pair, shares, strict=True):
            for data in share:
                side.send("upsert", data=data)
        for side, share in zip(pair, shares, strict=True):
            for _ in share:
                side.receive()
    return time.perf_counter() - began


def text(result: dict[str, Any]) -> str:
    """A line a side."""
    lines = [
        f"two writers, {result['commits']} commits of {result['rows']:,} rows each, a process and a core each; seconds"
    ]
    lines += [
        f"{'nbcc' if row['side'] == 'ours' else 'Hudi 1.2.0':12} one after the other {row['apart']:6.2f}   at once "
        f"{row['at_once']:6.2f}   {row['gain']:.2f}x"
        for row in result["sides"]
    ]
    return "\n".join(lines)
