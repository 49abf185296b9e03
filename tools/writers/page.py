"""The tables of docs/how-many-writers.md, from the recorded figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "how-many-writers.md"
FIGURES: Final = ROOT / "specs" / "workload" / "figures.json"
VALIDATION: Final = ROOT / "specs" / "workload" / "validation.json"
PICTURES: Final = ROOT / "docs" / "how-many-writers"
KEPT: Final = 95.0
"""A mode keeps up with so many jobs as long as at least this share (%) of their batches commits."""


def files(measure: bool) -> dict[Path, str | None]:
    """Return the page with its tables. If `measure` is True, run the sweeps again, and draw the pictures too."""
    made: dict[Path, str | None] = {}
    figures: dict[str, Any] = {} if measure else json.loads(FIGURES.read_text("utf-8"))
    if measure:
        from .pictures import pictures
        from .sweeps import sweeps

        figures = sweeps()
        made[FIGURES] = json.dumps(figures, indent=1) + "\n"
        made |= {PICTURES / name: text for name, text in pictures(figures).items()}
    text = PAGE.read_text("utf-8")
    for name, table in tables(figures).items():
        begin = f"<!-- table {name}: python -m tools.regenerate writers -->\n"
        before, found, rest = text.partition(begin)
        assert found, f"the page has no table {name}"
        text = f"{before}{begin}{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return {**made, PAGE: text}


def tables(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return a mapping from the name of each table to the table in Markdown."""
    from benchmarks.workload import text as validation

    return {
        "crossing": _crossing(figures),
        "skew": _skew(figures["skew"]),
        "compaction": _compaction(figures["compaction"]),
        "claims": _claims(figures["claims"]),
        "validation": validation(json.loads(VALIDATION.read_text("utf-8"))),
    }


def most_jobs(points: list[list[float]]) -> int:
    """Return the greatest number of jobs up to which every number of jobs keeps up; 0 if one job alone does not."""
    most = 0
    for count, share, _ in points:
        if share < KEPT:
            break
        most = int(count)
    return most


def cheapest(points: list[list[float]]) -> list[float]:
    """Return the interval of compactions with the lowest price of writes, services and reads."""
    return min(points, key=lambda point: point[1] + point[2])


def _crossing(figures: Mapping[str, Any]) -> str:
    stores = ("s3", "s3-fast", "s3-express")
    names = ("shared partitions", "own partitions", *(f"own partitions, {store}" for store in stores[1:]))
    words = ("16 shared partitions, s3", *(f"a partition for each job, {store}" for store in stores))
    rows = ["| jobs with a batch a minute | nbcc | occ | single |", "|---|---|---|---|"]
    for name, word in zip(names, words, strict=True):
        cells = []
        for mode in ("nbcc", "occ", "single"):
            points = figures[name][mode]
            last = points[-1]
            cells.append(f"{most_jobs(points)} (of {last[0]:.0f}: {last[1]:g} %)")
        rows.append(f"| {word} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _skew(skew: Mapping[str, Any]) -> str:
    stores = [*skew]
    rows = ["| greatest skew | " + " | ".join(stores) + " |", "|---|" + "---|" * len(stores)]
    for place, (milliseconds, *_) in enumerate(skew[stores[0]]):
        cells = [f"{skew[store][place][1]:g} commits a minute; {skew[store][place][2]:.0f} %" for store in stores]
        rows.append(f"| {milliseconds:g} ms | {' | '.join(cells)} |")
    return "\n".join(rows)


def _compaction(compaction: Mapping[str, Any]) -> str:
    rows = ["| a read each | cheapest interval | $ a day | each minute | each 2 hours |", "|---|---|---|---|---|"]
    for seconds, points in compaction.items():
        best, first, last = cheapest(points), points[0], points[-1]
        price = [f"{point[1] + point[2]:.2f}" for point in (best, first, last)]
        rows.append(f"| {float(seconds) / 60:g} min | {best[0]:g} min | {' | '.join(price)} |")
    return "\n".join(rows)


def _claims(claims: Mapping[str, Any]) -> str:
    rows = ["| scenario | figure | nbcc | occ | single |", "|---|---|---|---|---|"]
    for kind in ("ingestion", "encryption", "backfill"):
        cells = []
        for mode in ("nbcc", "occ"):
            commits, attempts, _ = claims[f"three writers, {mode}"][kind]
            each = " for each" if commits else ""
            cells.append(f"{commits:g} commits, {attempts:g} attempts{each}")
        rows.append(f"| three-writers | {kind} | {' | '.join(cells)} | |")
    for scenario, lines in (
        ("thousand jobs", {"committed": "batches committed, %", "lock busy": "lock held, %",
                           "lock requests": "requests to the lock, an hour"}),
        ("two pipelines", {"rows_per_second": "rows a second", "conflict_share": "attempts that conflict, %",
                           "logs_per_slice": "log files of a slice", "read_requests": "requests of a read"}),
    ):  # fmt: skip
        for name, words in lines.items():
            cells = [f"{claims[f'{scenario}, {mode}'][name]:,}" for mode in ("nbcc", "occ", "single")]
            rows.append(f"| {scenario} | {words} | {' | '.join(cells)} |")
    return "\n".join(rows)
