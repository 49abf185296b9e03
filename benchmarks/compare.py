"""nbcc, Apache Hudi and plain Parquet, the same operations on the same rows, round by round in one run."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from tools import markdown

from .inputs import Inputs
from .side import Side, SideError, hudi_is_there

BUCKETS: Final = 4
UPDATES: Final = 4
BLOCKS: Final = ("avro", "parquet")


@dataclass(frozen=True)
class Goal:
    """How a figure of ours must stand to another side's: at least `times` as fast as `side`, or at most so slow."""

    side: str
    times: float
    slower: bool = False

    def ratio(self, ours: float, theirs: float) -> float:
        return ours / theirs if self.slower else theirs / ours

    def met(self, ratio: float) -> bool:
        return ratio <= self.times if self.slower else ratio >= self.times

    def __str__(self) -> str:
        return f"≤ {self.times:g}x {self.side}" if self.slower else f"≥ {self.times:g}x {self.side}"


OPERATIONS: Final[dict[str, Goal | None]] = {
    "upsert all rows, empty table": Goal("hudi", 4),
    "snapshot, logs only": Goal("hudi", 10),
    "compaction, logs only": Goal("hudi", 15),
    "snapshot, compacted": Goal("parquet", 1.3, slower=True),
    "upsert a tenth": Goal("hudi", 3),
    "snapshot, base + 4 logs": Goal("hudi", 4),
    "one column of base + logs, aggregated": Goal("hudi", 3),
    "incremental, one commit of a tenth": Goal("hudi", 1),
    "changes of the same window": None,
    "compaction, base + 4 logs": Goal("hudi", 15),
    "small commit, 100 rows": Goal("hudi", 2),
    "bulk insert all rows": Goal("hudi", 2),
}
LIMIT: Final = {
    "upsert all rows, empty table": "upsert",
    "bulk insert all rows": "upsert",
    "snapshot, compacted": "snapshot",
    "snapshot, base + 4 logs": "snapshot",
    "one column of base + logs, aggregated": "column",
}
"""What plain Parquet does in place of an operation."""


@dataclass
class Timings:
    """Seconds by side and operation."""

    of: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def median(self, side: str, operation: str) -> float | None:
        seconds = self.of.get(side, {}).get(operation)
        return median(seconds) if seconds else None

    def best(self, sides: Sequence[str], operation: str) -> tuple[float | None, str]:
        """The least median among several sides, and whose it is."""
        found = [(took, side) for side in sides if (took := self.median(side, operation)) is not None]
        return min(found) if found else (None, "")


def run(folder: Path, rows: int, rounds: int, peer_rounds: int) -> dict[str, Any]:
    """Every operation on every side; Hudi once with each format of log blocks, of which the faster one counts.

    One round on a tenth of the rows comes first and is not counted: it warms JVMs and workers.
    """
    timings = Timings()
    with ExitStack() as stack:
        sides = {name: Side(name, folder / f"{name}.log") for name in ("ours", "parquet")}
        if hudi_is_there():
            sides["hudi"] = Side("hudi", folder / "hudi.log")
        for side in sides.values():
            stack.callback(side.close)
        inputs = Inputs(sides["ours"], folder / "inputs")
        for number in range(-1, max(rounds, peer_rounds)):
            warm = number < 0
            play = Rounds(inputs, folder, rows // 10 if warm else rows, Timings() if warm else timings)
            if number < rounds:
                # Spark ends Python workers that are idle for a minute, as ours while Hudi plays. Hudi's JVM goes on.
                Rounds(inputs, folder, rows // 10 if warm else rows, Timings()).play(sides["ours"])
                play.play(sides["ours"])
                play.limit(sides["parquet"])
            if "hudi" in sides and number < peer_rounds:
                for blocks in BLOCKS:
                    play.play(sides["hudi"], blocks)
    return {"rows": rows, "rounds": rounds, "peer_rounds": peer_rounds, "figures": figures(timings)}


class Rounds:
    """Plays rounds on sides. `seconds` of the round at hand are kept by side (Hudi: and log format) and operation."""

    def __init__(self, inputs: Inputs, folder: Path, rows: int, timings: Timings) -> None:
        self._inputs, self._folder, self._rows, self._timings = inputs, folder, rows, timings

    def play(self, side: Side, blocks: str = "") -> None:
        """Load, compact, update by a tenth four times, read, compact, small commits; bulk insert into a new table."""
        rows, tenth = self._rows, self._rows // 10
        data = self._inputs.path(rows)
        updates = [self._inputs.path(tenth, number * 2 * tenth, 2 + number) for number in range(UPDATES)]
        small = [self._inputs.path(100, number, 9 + number) for number in range(UPDATES)]
        seconds = self._timings.of[f"{side.name} {blocks}".strip()]
        names = iter(OPERATIONS)

        def time(do: str, *several: str, **arguments: Any) -> list[Any]:
            operation = next(names)
            took = [side.do(do, data=each) for each in several] or [side.do(do, **arguments)]
            seconds[operation] += [each.seconds for each in took]
            return [each.answer for each in took]

        table = {"path": str(self._folder / f"table-{side.name}"), "buckets": BUCKETS, "blocks": blocks}
        os.sync()  # what the other sides have written must not delay this side's fsync
        side.do("fresh", **table)
        time("upsert", data)
        time("snapshot")
        time("compact")
        time("snapshot")
        before = time("upsert", *updates)[-2]
        time("snapshot")
        time("column")
        time("incremental", after=before)
        if side.name == "ours":
            time("changes", after=before)
        else:
            next(names)
        time("compact")
        time("upsert", *small)
        self._count(side)
        side.do("fresh", **table)
        time("bulk_insert", data)
        self._count(side)
        shutil.rmtree(str(table["path"]), ignore_errors=True)

    def _count(self, side: Side) -> None:
        if (found := side.do("count").answer) != self._rows:
            raise SideError(f"{side.name} has {found} rows, not {self._rows}")

    def limit(self, side: Side) -> None:
        """What plain Parquet needs for the same rows."""
        side.do("fresh", path=str(self._folder / "table-parquet"))
        done = {"upsert": side.do("upsert", data=self._inputs.path(self._rows)).seconds}
        done |= {name: side.do(name).seconds for name in ("snapshot", "column")}
        for operation, name in LIMIT.items():
            self._timings.of[side.name][operation].append(done[name])


def figures(timings: Timings) -> list[dict[str, Any]]:
    """A row an operation: the medians, the ratio that its goal speaks of, and whether it is met."""
    found = []
    for operation, goal in OPERATIONS.items():
        ours, limit = (timings.median(side, operation) for side in ("ours", "parquet"))
        hudi, format_of = timings.best([f"hudi {blocks}" for blocks in BLOCKS], operation)
        row: dict[str, Any] = {"operation": operation, "ours": ours, "hudi": hudi, "parquet": limit,
                               "hudi_blocks": format_of.removeprefix("hudi ")}  # fmt: skip
        row["seconds"] = {side: of[operation] for side, of in timings.of.items() if of.get(operation)}
        other = None if goal is None else {"hudi": hudi, "parquet": limit}[goal.side]
        if goal is not None and ours and other:
            ratio = goal.ratio(ours, other)
            row |= {"goal": str(goal), "ratio": round(ratio, 2), "met": goal.met(ratio)}
        found.append(row)
    return found


def text(result: dict[str, Any]) -> str:
    """The table: seconds, medians."""
    head = (
        f"{result['rows']:,} rows, 6 columns, {BUCKETS} buckets, NBCC, no metadata table, local[2], warm; seconds, "
        f"medians of {result['rounds']} (Hudi: {result['peer_rounds']} with each log format, the faster one counts)"
    )
    lines = [head, f"{'':38}{'nbcc':>8}{'Hudi 1.2.0':>12}{'':9}{'Parquet':>8}{'ratio':>8}  goal"]
    for row in result["figures"]:
        cells = _seconds(row)
        goal = f"{row['goal']}{'' if row['met'] else '   MISSED'}" if "goal" in row else "stated"
        ratio = f"{row['ratio']:.1f}x" if "ratio" in row else ""
        lines.append(
            f"{row['operation']:38}{cells[0]:>8}{cells[1]:>12} {row['hudi_blocks']:8}{cells[2]:>8}{ratio:>8}  {goal}"
        )
    lines.append(
        "Each commit of Hudi's waits out its clock skew twice (200 ms each); nbcc's waits out one machine's clock."
    )
    return "\n".join(lines)


def _seconds(row: dict[str, Any]) -> list[str]:
    return [f"{row[side]:.2f}" if row[side] is not None else "–" for side in ("ours", "hudi", "parquet")]


def page_table(result: dict[str, Any]) -> str:
    """Return the table for docs/speed.md, in Markdown, with the least and the most seconds of nbcc."""
    lines = []
    for row in result["figures"]:
        ours, hudi, limit = _seconds(row)
        ours += f" ({min(row['seconds']['ours']):.2f}–{max(row['seconds']['ours']):.2f})"
        goal = row.get("goal", "–").replace("hudi", "Hudi").replace("parquet", "Parquet")
        lines.append([
            row["operation"], ours, f"{hudi} ({row['hudi_blocks']})" if row["hudi_blocks"] else hudi, limit,
            f"{row['ratio']:.1f}x" if "ratio" in row else "–", goal if row.get("met", True) else f"{goal}: **missed**",
        ])  # fmt: skip
    return "\n".join(markdown.table(["operation", "nbcc", "Hudi 1.2.0", "Parquet", "ratio", "goal"], lines))


def missed(result: dict[str, Any]) -> bool:
    """Whether a goal is missed; only said of the rows that the goals were set for."""
    return result["rows"] == 1_000_000 and any(not row.get("met", True) for row in result["figures"])
