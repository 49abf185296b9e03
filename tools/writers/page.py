"""The tables of docs/how-many-writers.md, from the recorded figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from ..markdown import table, with_tables

MODES: Final = ("nbcc", "occ", "single")
ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "how-many-writers.md"
FIGURES: Final = ROOT / "specs" / "workload" / "figures.json"
VALIDATION: Final = ROOT / "specs" / "workload" / "validation.json"
COMMITS: Final = ROOT / "specs" / "workload" / "commits.json"
"""The output of `make bench BENCH=stores`."""
PICTURES: Final = ROOT / "docs" / "how-many-writers"
KEPT: Final = 95.0
"""A mode keeps up with so many jobs as long as at least this share (%) of their batches commits."""


def files(measure: bool) -> dict[Path, str | None]:
    """Return the page with its tables, and its pictures. If `measure` is True, run the sweeps again."""
    from .pictures import pictures

    made: dict[Path, str | None] = {}
    if measure:
        from .sweeps import sweeps

        figures = sweeps()
        made[FIGURES] = json.dumps(figures, indent=1) + "\n"
    else:
        figures = json.loads(FIGURES.read_text("utf-8"))
    bench = json.loads(COMMITS.read_text("utf-8"))
    made |= {PICTURES / name: text for name, text in pictures(figures, bench).items()}
    return {**made, PAGE: with_tables(PAGE.read_text("utf-8"), tables(figures), "python -m tools.regenerate writers")}


def tables(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return a mapping from the name of each table to the table in Markdown."""
    from benchmarks.workload import text as validation

    return {
        "crossing": _crossing(figures),
        "skew": _skew(figures["skew"]),
        "compaction": _compaction(figures["compaction"]),
        "claims": _claims(figures["claims"]),
        "validation": validation(json.loads(VALIDATION.read_text("utf-8"))),
        **_commits(json.loads(COMMITS.read_text("utf-8")), figures["commits"]),
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
    rows = []
    for name, word in zip(names, words, strict=True):
        cells = []
        for mode in MODES:
            points = figures[name][mode]
            last = points[-1]
            cells.append(f"{most_jobs(points)} (of {last[0]:.0f}: {last[1]:g} %)")
        rows.append([word, *cells])
    return _table(("jobs with a batch a minute", *MODES), rows)


def _skew(skew: Mapping[str, Any]) -> str:
    stores = [*skew]
    rows = []
    for place, (milliseconds, *_) in enumerate(skew[stores[0]]):
        cells = [f"{skew[store][place][1]:g} commits a minute; {skew[store][place][2]:.0f} %" for store in stores]
        rows.append([f"{milliseconds:g} ms", *cells])
    return _table(("greatest skew", *stores), rows)


def _compaction(compaction: Mapping[str, Any]) -> str:
    rows = []
    for seconds, points in compaction.items():
        best, first, last = cheapest(points), points[0], points[-1]
        price = [f"{point[1] + point[2]:.2f}" for point in (best, first, last)]
        rows.append([f"{float(seconds) / 60:g} min", f"{best[0]:g} min", *price])
    return _table(("a read each", "cheapest interval", "$ a day", "each minute", "each 2 hours"), rows)


def _claims(claims: Mapping[str, Any]) -> str:
    rows = []
    for kind in ("ingestion", "encryption", "backfill"):
        cells = []
        for mode in ("nbcc", "occ"):
            commits, attempts, _ = claims[f"three writers, {mode}"][kind]
            each = " for each" if commits else ""
            cells.append(f"{commits:g} commits, {attempts:g} attempts{each}")
        rows.append(["three-writers", kind, *cells, ""])
    for scenario, lines in (
        ("thousand jobs", {"committed": "batches committed, %", "lock busy": "lock held, %",
                           "lock requests": "requests to the lock, an hour"}),
        ("two pipelines", {"rows_per_second": "rows a second", "conflict_share": "attempts that conflict, %",
                           "logs_per_slice": "log files of a slice", "read_requests": "requests of a read"}),
    ):  # fmt: skip
        for name, words in lines.items():
            cells = [f"{claims[f'{scenario}, {mode}'][name]:,}" for mode in MODES]
            rows.append([scenario, words, *cells])
    return _table(("scenario", "figure", *MODES), rows)


def _commits(bench: Mapping[str, Any], predicted: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tables of measured commits, of other writers, of pauses, of predictions, and of many writers."""
    measured = {(row["phase"], row["mode"], row["writers"]): row for row in bench["stores"]["rows"]}
    names = {row["mode"]: _coded(row["mode"]) for (phase, *_), row in measured.items() if phase == "commit"}
    guessed = {(row["phase"], row["mode"], row["writers"]): row for row in predicted if row["mode"] in names}
    counts = sorted({count for _, _, count in measured})
    rows, compared = [], []
    for mode, count in product(names, counts):
        row, whole = measured["commit", mode, count], measured["write", mode, count]
        guess = guessed["commit", mode, count]
        rate, expected = row["commits_a_second"], guess["commits_a_second"]
        rows.append([
            names[mode], f"{count}", f"{rate:.1f}", f"{row['median']:.2f}", f"{row['p95']:.2f}",
            f"{row['requests']:.0f}", f"{row['cores'] + row['server']:.2f}", f"{whole['commits_a_second']:.1f}",
        ])  # fmt: skip
        compared.append([
            names[mode], f"{count}", f"{rate:.1f}", f"{expected:.1f}", f"{100 * (expected / rate - 1):+.0f} %",
            f"{row['median']:.2f}", f"{guess['median']:.2f}", f"{row['requests']:.0f}", f"{guess['requests']:.0f}",
        ])  # fmt: skip
    deaths = [
        [_coded(each["mode"]), ", ".join(f"{pause:.1f}" for pause in each["pauses"])]
        for each in bench["stores"]["deaths"]
    ]
    many = [
        [names[mode], f"{count:,}", f"{row['commits_a_second']:.1f}", f"{row['median']:.1f}", f"{row['p95']:.1f}",
         f"{row['requests']:,.0f}", f"{row['dollars']:.0f}"]
        for (phase, mode, count), row in guessed.items() if phase == "write" and count > max(counts)
    ]  # fmt: skip
    others = [
        [name if name.startswith("Hudi") else _coded(name), f"{count}", f"{row['commits_a_second']:.1f}",
         f"{row['median']:.2f}", f"{row['p95']:.2f}", f"{row['requests']:.0f}", f"{row['conflicts']:.1f}"]
        for (phase, name, count), row in measured.items() if phase == "write" and name not in names
    ]  # fmt: skip
    common = ("mode", "writers", "commits/s")
    both = ("predicted", "error", "median s", "predicted", "requests", "predicted")
    return {
        "commits": _table((*common, "median s", "95th percentile s", "requests", "cores", "whole writes/s"), rows),
        "others": _table((*common, "median s", "95th percentile s", "requests", "conflicts a commit"), others),
        "deaths": _table(("mode", "longest pause of each round, s"), deaths),
        "predicted": _table((*common, *both), compared),
        "many": _table((*common, "median s", "95th percentile s", "requests", "$ a million commits"), many),
    }


def _coded(mode: str) -> str:
    return ", ".join(f"`{part}`" for part in mode.split(", "))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(table(head, rows))
