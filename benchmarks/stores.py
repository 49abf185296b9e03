"""Writers on one table in an object store: commits and requests a second, and the latency of a commit.

Each writer is a process. nbcc's are those of `commits`: they commit in each mode that the engine has, and as optimistic
writers in the default mode. The cases are measured in turns, so that other work on the machine falls on all of them.
Apache Hudi's writers, each with its JVM, are measured on the same server if Hudi's environment exists.

A death: of eight writers, one is killed just before it puts its first completed instant. The pause is the longest time
from then on without a commit of the others.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final, get_args

from nbcc.simulator.lockstep.s3.server import Bucket, s3_server

from . import progress
from .commits import BUCKETS, LATENCY_SECONDS, NBCC, OCC, ROWS, SKEW_MS, Phase, Run, Writers, modes, writers
from .side import Side, SideError, hudi_is_there

WRITERS: Final = (1, 2, 4, 8, 16)
SECONDS: Final = 6.0
"""Of each case in each round."""
DEATH_WRITERS: Final = 8
LEASE: Final = 5
"""Seconds of a lease in a run with a death; the default is 300."""
LEASED: Final = {
    "hoodie.write.lock.storage.validity.timeout.secs": f"{LEASE}",
    "hoodie.write.lock.storage.renew.interval.secs": "2",
}
HUDI: Final = "Hudi 1.2.0, NBCC"
HUDI_WRITERS: Final = (1, 2, 4)
HUDI_HEAP: Final = "1g"  # of each JVM
HUDI_WARM_SECONDS: Final = 10.0
HUDI_SECONDS: Final = 60.0  # a commit of Hudi takes several seconds


def run(folder: Path, rounds: int) -> dict[str, Any]:
    """The figures by phase, mode and number of writers, and the pauses after deaths."""
    cases = [(phase, mode, NBCC) for phase, mode in product(get_args(Phase), modes())]
    cases.append(("write", next(iter(modes())), OCC))
    runs: dict[tuple[int, tuple[Phase, str, str]], list[Run]] = {each: [] for each in product(WRITERS, cases)}
    pauses: dict[str, list[float]] = {mode: [] for mode in modes()}
    with writers() as crowd:
        for number in range(rounds):
            for (count, (phase, mode, concurrency)), measured in runs.items():
                with progress.during(f"round {number + 1}: {phase}, {mode}, {concurrency.lower()}, {count} writers"):
                    measured.append(crowd.commit(count, SECONDS, modes()[mode], phase, concurrency))
            for mode, seconds in pauses.items():
                with progress.during(f"round {number + 1}: a death, {mode}"):
                    seconds.append(_pause(crowd, modes()[mode]))
    rows = [
        {"phase": phase, "mode": mode if kind == NBCC else f"{mode}, OCC", "writers": count, **_row(each, count)}
        for (count, (phase, mode, kind)), each in runs.items()
    ]
    if hudi_is_there():
        rows += _hudi(folder)
    deaths = [{"mode": mode, "pauses": [round(each, 2) for each in seconds]} for mode, seconds in pauses.items()]
    return {
        "seconds": SECONDS, "rounds": rounds, "latency": LATENCY_SECONDS, "skew_ms": SKEW_MS, "lease": LEASE,
        "rows": rows, "deaths": deaths,
    }  # fmt: skip


def text(result: dict[str, Any]) -> str:
    """The tables of a result."""
    lines = [
        "| phase | mode | writers | commits/s (least to greatest) | median s | p95 s | after the data files, median s "
        "| requests a commit | conflicts a commit | cores of the writers, of the server, of all programs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(result["rows"], key=lambda row: row["phase"]):
        rate = f"{row['commits_a_second']:.1f} ({row['least']:.1f} to {row['greatest']:.1f})"
        cores = ", ".join(f"{row[name]:.2f}" for name in ("cores", "server", "machine")) if "cores" in row else "-"
        lines.append(
            f"| {row['phase']} | {row['mode']} | {row['writers']} | {rate} | {row['median']:.2f} | {row['p95']:.2f} "
            f"| {row.get('committing', '-')} | {row['requests']:.0f} | {row['conflicts']:.2f} | {cores} |"
        )
    lines += ["", "| one of eight writers dies | longest pause s, each round |", "|---|---|"]
    lines += [f"| {each['mode']} | {', '.join(f'{p:.1f}' for p in each['pauses'])} |" for each in result["deaths"]]
    return "\n".join(lines)


def _pause(crowd: Writers, options: dict[str, str]) -> float:
    seconds = SECONDS + 2 * LEASE
    run = crowd.commit(DEATH_WRITERS, seconds, {**options, **LEASED}, "commit", dies=True)
    later = sorted(each for one in run.commits for each in one.returned if each > run.died)
    return max(b - a for a, b in pairwise([run.died, *later, run.began + seconds]))


def _row(runs: Sequence[Run], count: int) -> dict[str, Any]:
    """The figures of one case. The cores of the writers are of the time until the last commit has returned."""
    commits = [one for each in runs for one in each.commits]
    took = [seconds for one in commits for seconds in one.took]
    rates = [sum(t <= r.began + SECONDS for one in r.commits for t in one.returned) / SECONDS for r in runs]
    requests = sum(each.requests for each in runs) / SECONDS / len(runs)
    seconds = sum(max(t for one in each.commits for t in one.returned) - each.began for each in runs)
    return {
        **figures(took, sum(one.conflicts for one in commits), rates, requests),
        "committing": round(statistics.median(t for one in commits for t in one.committing), 3),
        "cores": round(sum(one.cores for one in commits) / seconds, 2),
        "server": round(sum(each.server for each in runs) / SECONDS / len(runs), 2),
        "machine": round(sum(each.machine for each in runs) / SECONDS / len(runs), 2),
    }


def figures(took: Sequence[float], conflicts: int, rates: Sequence[float], requests: float) -> dict[str, Any]:
    """Figures of the seconds of the calls, the commits a second of each round, and the requests a second."""
    latencies, rate = sorted(took), statistics.mean(rates)
    return {
        "commits_a_second": round(rate, 3),
        "least": round(min(rates), 3),
        "greatest": round(max(rates), 3),
        "median": round(statistics.median(latencies), 3),
        "p95": round(latencies[int(0.95 * (len(latencies) - 1))], 3),
        "requests": round(requests / rate, 1),
        "conflicts": round(conflicts / len(latencies), 3),
    }


def _hudi(folder: Path) -> list[dict[str, Any]]:
    """Hudi's rows: its writers are added one after the other, each number of them has a table of its own."""
    rows, sides = [], list[Side]()
    with ExitStack() as stack:
        bucket, locks = stack.enter_context(s3_server()), 0
        for count in HUDI_WRITERS:
            while len(sides) < count:
                log = folder / f"hudi-{len(sides)}.log"
                sides.append(Side("hudi", log, cores=1, heap=HUDI_HEAP, store=bucket.texts))
                stack.callback(sides[-1].close)
            locks = locks or sides[0].do("serve_locks", folder=str(folder / "zookeeper")).answer
            with progress.during(f"{HUDI}, {count} writers"):
                row = _hudi_measured(sides, bucket, locks, HUDI_SECONDS)
            rows.append({"phase": "write", "mode": HUDI, "writers": count, **row})
    return rows


def _hudi_measured(sides: list[Side], bucket: Bucket, locks: int, seconds: float) -> dict[str, Any]:
    path, commits = f"s3a://lake/hudi-{len(sides)}", 0
    for number, side in enumerate(sides):  # the first one creates the table; the loop also warms the JVM
        side.do("join_in_store", path=path, buckets=BUCKETS, locks=locks, skew=SKEW_MS)
        warm = side.do("repeat", writer=len(sides) + number, rows=ROWS, seconds=HUDI_WARM_SECONDS).answer
        commits += len(warm["latencies"])
    bucket.latency_seconds = LATENCY_SECONDS
    bucket.requests.clear()
    for number, side in enumerate(sides):
        side.send("repeat", writer=number, rows=ROWS, seconds=seconds)
    time.sleep(seconds)
    requests = len(bucket.sent)
    found = [side.receive().answer for side in sides]
    bucket.latency_seconds = 0
    commits += sum(len(each["latencies"]) for each in found)
    if (rows := sides[0].do("count").answer) != commits * ROWS:
        raise SideError(f"Hudi's table has {rows} rows after {commits} commits of {ROWS}")
    took = [latency for each in found for latency in each["latencies"]]
    rate = sum(each["in_time"] for each in found) / seconds
    return {**figures(took, 0, [rate], requests / seconds)}
