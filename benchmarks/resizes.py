"""A resize of one partition from 4 to 16 buckets, while two writers and a reader run: pauses, rows, memory.

Each actor is a process. A writer upserts batch after batch, as a stream does: half of the rows update keys of the
table, half are new. The reader follows the table by windows. At the end, the last acknowledged row of each key is
compared with a snapshot. The resizer and the process that fills the table bound the memory of a task.
"""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nbcc.engine.file_names import TOMBSTONES
from nbcc.engine.limits import Limits, set_limits
from nbcc.engine.table import Table

from . import progress
from .memory import RETURN_MEMORY, TASK_BYTES

ROWS: Final = 16_000_000
VALUE_BYTES: Final = 480
"""Of each row, of random letters, so that its bytes are not compressed away: 16 million rows are 8 GB of base files."""
BATCH: Final = 100_000
WRITTEN: Final = 2_000
"""Rows of a writer's batch."""
PAUSE: Final = 1.0
"""Seconds between two batches of a writer."""
ALONE: Final = 10.0
"""Seconds in which the writers run before and after the resize."""
FIRST: Final = 4
BUCKETS: Final = 16

SCHEMA: Final = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("value", pa.string())])


def run(folder: Path, rows: int) -> dict[str, Any]:
    """Fill a table, resize it while writers and a reader run, and compare every acknowledged row with a snapshot."""
    table = folder / "resized"
    with progress.during(f"{rows:,} rows"):
        _ended(_started("fill", table, rows))
    base = sum(path.stat().st_size for path in table.glob("*.parquet"))
    actors = [_started("write", table, rows, number) for number in range(2)]
    reader = _started("read", table, rows)
    time.sleep(ALONE)
    with progress.during(f"{FIRST} to {BUCKETS} buckets, of {base >> 20} MiB"):
        resized = _ended(_started("resize", table, rows))
    time.sleep(ALONE)
    (folder / "stop").touch()
    writers, read = [_ended(each) for each in actors], _ended(reader)
    commits = [commit for each in writers for commit in each["commits"]]
    began, ended = resized["times"]
    return {
        "rows": rows,
        "base_bytes": base,
        "commits": len(commits),
        "refused": sum(each["refused"] for each in writers),
        "before": _pauses([seconds for at, seconds in commits if at + seconds < began]),
        "during": _pauses([seconds for at, seconds in commits if at < ended and at + seconds >= began]),
        "after": _pauses([seconds for at, seconds in commits if at >= ended]),
        "reader": read,
        "peaks": {"resizer": resized["peak"], "writer": max(each["peak"] for each in writers), "reader": read["peak"]},
        **{name: resized[name] for name in ("seconds", "rounds", "copies", "copied_bytes")},
        **_compared(table, rows, [each["newest"] for each in writers], read),
    }


def text(result: dict[str, Any]) -> str:
    """Return the table of the figures."""
    lines = [
        f"| {result['rows']:,} rows, base files of {result['base_bytes'] >> 20} MiB, {FIRST} to {BUCKETS} buckets | |",
        "|---|---|",
        f"| seconds of the resize | {result['seconds']:.0f} |",
        f"| commits; refused; acknowledged rows lost | {result['commits']}; {result['refused']}; {result['lost']} |",
        f"| rows that the reader missed; that it was given twice | {result['missed']}; {result['twice']} |",
        *(f"| commits {name}, seconds: median; longest | {result[name][0]:.2f}; {result[name][1]:.2f} |"
          for name in ("before", "during", "after")),
        f"| late logs: rounds; copies; MiB of copies | {result['rounds']}; {result['copies']}; "
        f"{result['copied_bytes'] / (1 << 20):.1f} |",
        f"| peak of a process, MiB | {', '.join(f'{name} {peak}' for name, peak in result['peaks'].items())} |",
        f"| windows of the reader; the longest, seconds | {result['reader']['windows']}; "
        f"{result['reader']['longest']:.2f} |",
    ]  # fmt: skip
    return "\n".join(lines)


def _pauses(seconds: list[float]) -> tuple[float, float]:
    return (float(np.median(seconds)), max(seconds)) if seconds else (0.0, 0.0)


def _compared(folder: Path, rows: int, newest: list[dict[str, int]], read: dict[str, Any]) -> dict[str, int]:
    """Return how many acknowledged rows a snapshot has lost, and how many new rows the reader missed or had twice."""
    found = Table.open(None, folder).snapshot(columns=["id", "ts"])
    there = dict(zip(found["id"].to_pylist(), found["ts"].to_pylist(), strict=True))
    written = {int(key): ts for each in newest for key, ts in each.items()}
    lost = sum(there.get(key) != ts for key, ts in written.items())
    lost += sum(key not in there for key in range(rows))
    assert len(there) == len(found), "a key is shown twice"
    new = sum(key >= rows for key in written)
    return {"lost": lost, "missed": new - read["new"], "twice": read["delivered"] - read["new"]}


def _started(role: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.resizes", role, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **RETURN_MEMORY})


def _ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    answer, _ = process.communicate()
    assert process.returncode == 0, process.args
    measured: dict[str, Any] = json.loads(answer)
    return measured


# The processes.


def _fill(folder: Path, rows: int) -> dict[str, Any]:
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=FIRST)
    for first in range(0, rows, BATCH):
        table.upsert(_rows(np.arange(first, min(first + BATCH, rows)), 1))
    table.compact()
    table.clean(retained=1)
    return {}


def _rows(keys: Any, ts: int) -> pa.Table:
    """Rows with the given keys. Their values are slices of one random text, at random places."""
    text = base64.b64encode(random.randbytes(1 << 20)).decode()
    places = (random.randrange(len(text) - VALUE_BYTES) for _ in keys)
    values = [text[place : place + VALUE_BYTES] for place in places]
    return pa.table([keys, np.full(len(keys), ts), values], schema=SCHEMA)


def _write(folder: Path, rows: int, number: str) -> dict[str, Any]:
    """Upsert until the file `stop` exists. Each writer has keys of its own: those of one parity."""
    me, chance, table = int(number), random.Random(number), Table.open(None, folder)
    newest: dict[int, int] = {}
    commits, refused, at = list[tuple[float, float]](), 0, 1
    while not (folder.parent / "stop").exists():
        at += 1
        old = {2 * chance.randrange(rows // 2) + me for _ in range(WRITTEN // 2)}
        first = rows + (at * WRITTEN // 2) * 2
        keys = np.array(sorted(old | {first + 2 * n + me for n in range(WRITTEN // 2)}))
        batch = _rows(keys, at)
        began = time.time()
        try:
            table.upsert(batch, batch_id=f"{me}/{at}")
        except Exception as error:  # an error of any class is a refused write
            print(error, file=sys.stderr)
            refused += 1
        else:
            commits.append((began, time.time() - began))
            newest |= dict.fromkeys(keys.tolist(), at)
        time.sleep(PAUSE)
    return {"commits": commits, "refused": refused, "newest": newest}


def _read(folder: Path, rows: int) -> dict[str, Any]:
    """Follow the table by windows. Each new key is delivered once."""
    table, after, ends = Table.open(None, folder), _newest(folder), False
    new, delivered, seconds = set[int](), 0, list[float]()
    while not ends:
        ends = (folder.parent / "stop").exists()
        if ends:
            time.sleep(30 * PAUSE)  # the last commits of the writers end
        until, began = _newest(folder), time.time()
        if until > after:
            keys = [key for key in table.incremental(after, until, columns=["id"])["id"].to_pylist() if key >= rows]
            new |= set(keys)
            delivered += len(keys)
            after = until
            seconds.append(time.time() - began)
        time.sleep(PAUSE)
    return {"new": len(new), "delivered": delivered, "windows": len(seconds), "longest": max(seconds, default=0)}


def _newest(folder: Path) -> str:
    return max(instant.completed or "" for instant in Table.open(None, folder).timeline())


def _resize(folder: Path, rows: int) -> dict[str, Any]:
    table, began = Table.open(None, folder), time.time()
    done = table.resize(BUCKETS)
    ended = time.time()
    assert done is not None
    copies = [stat for stat in table.context.commits.commit(done).stats if (stat.log_version or 0) > TOMBSTONES]
    return {
        "times": (began, ended),
        "seconds": ended - began,
        "rounds": len({stat.log_version for stat in copies}),
        "copies": len(copies),
        "copied_bytes": sum(stat.size for stat in copies),
    }


ROLES: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    "fill": _fill, "write": _write, "read": _read, "resize": _resize,
}  # fmt: skip


def main(role: str, folder: str, rows: str, *words: str) -> None:
    """Play one role and print its figures as JSON."""
    set_limits(Limits(task_bytes=TASK_BYTES))
    measured = ROLES[role](Path(folder), int(rows), *words)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({**measured, "peak": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
