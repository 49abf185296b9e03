"""Rows a second of streaming queries, from the start of the query to the last commit, nbcc and Apache Hudi in one run.

A copy follows a table of ten commits and upserts all its rows into another table in one trigger. A rate source makes
new rows, which the query upserts in batches without a pause between them.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Final

from .compare import BLOCKS, BUCKETS
from .inputs import Inputs
from .side import Side, SideError, hudi_is_there

COMMITS: Final = 10
GOAL: Final = 50_000  # rows a second
QUERIES: Final = {"copy": "copy of a table, one trigger", "rate": f"rate source, {COMMITS} batches"}


def run(folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Both queries on each side. One round on a tenth of the rows comes first and is not counted."""
    seconds: dict[str, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        ours = Side("ours", folder / "ours.log")
        stack.callback(ours.close)
        players = [(ours, "")]
        if hudi_is_there():
            hudi = Side("hudi", folder / "hudi.log")
            stack.callback(hudi.close)
            players += [(hudi, blocks) for blocks in BLOCKS]
        inputs = Inputs(ours, folder / "inputs")
        for number in range(-1, rounds):
            for side, blocks in players:
                times = _round(side, blocks, inputs, folder / "round", rows if number >= 0 else rows // 10)
                if number >= 0:
                    of_side = seconds.setdefault(f"{side.name} {blocks}".strip(), {query: [] for query in QUERIES})
                    for query, took in times.items():
                        of_side[query].append(took)
    return {"rows": rows, "rounds": rounds, "seconds": seconds, "figures": figures(rows, seconds)}


def _round(side: Side, blocks: str, inputs: Inputs, folder: Path, rows: int) -> dict[str, float]:
    """Seconds of each query."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    source, copy, rated = (str(folder / name) for name in ("source", "copy", "rated"))
    part = rows // COMMITS
    side.do("fresh", path=source, buckets=BUCKETS, blocks=blocks)
    for number in range(COMMITS):
        side.do("upsert", data=inputs.path(part, number * part))
    side.do("fresh", path=copy, buckets=BUCKETS, blocks=blocks)
    times = {"copy": side.do("copy_by_stream", source=source, path=copy, checkpoint=f"{copy}-checkpoint").seconds}
    if (count := side.do("count").answer) != rows:
        raise SideError(f"{side.name} has copied {count} rows, not {rows}")
    side.do("fresh", path=rated, buckets=BUCKETS, blocks=blocks)
    sent = {"checkpoint": f"{rated}-checkpoint", "rows": part, "batches": COMMITS}
    times["rate"] = side.do("rate_stream", path=rated, **sent).answer
    if (count := side.do("count").answer) < rows:  # a further batch may have begun before the query was stopped
        raise SideError(f"{side.name} has {count} rows of the rate source, not {rows}")
    return times


def figures(rows: int, seconds: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """A row a query: rows a second of both sides, by the medians, and how many times as fast nbcc is."""
    found = []
    for query in QUERIES:
        rates = {side: rows / median(of_side[query]) for side, of_side in seconds.items()}
        ours = rates.pop("ours")
        best = max(rates, key=lambda side: rates[side], default="")
        hudi = rates.get(best)
        row = {"query": query, "ours": round(ours), "hudi": None, "hudi_blocks": "", "ratio": None, "met": ours >= GOAL}
        if hudi:
            row |= {"hudi": round(hudi), "hudi_blocks": best.removeprefix("hudi "), "ratio": round(ours / hudi, 2)}
        found.append(row)
    return found


def text(result: dict[str, Any]) -> str:
    """The table: rows a second."""
    rounds = f"medians of {result['rounds']} (Hudi: with each log format, the faster one counts)"
    head = f"{result['rows']:,} rows, 6 columns, {BUCKETS} buckets, local[2], warm; rows a second, {rounds}"
    lines = [head, f"{'':32}{'nbcc':>10}{'Hudi 1.2.0':>12}{'':9}{'ratio':>8}  goal"]
    for row in result["figures"]:
        hudi, ratio = (f"{row['hudi']:,}", f"{row['ratio']:.1f}x") if row["hudi"] else ("–", "")
        goal = f"≥ {GOAL:,}{'' if row['met'] else '   MISSED'}"
        lines.append(f"{QUERIES[row['query']]:32}{row['ours']:>10,}{hudi:>12} {row['hudi_blocks']:8}{ratio:>8}  {goal}")
    return "\n".join(lines)


def missed(result: dict[str, Any]) -> bool:
    """Whether nbcc misses the goal; only for the number of rows for which the goal was set."""
    return result["rows"] == 1_000_000 and not all(row["met"] for row in result["figures"])
