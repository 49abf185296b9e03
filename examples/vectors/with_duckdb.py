"""Reads the base files of vectors with DuckDB (pip install duckdb): python with_duckdb.py VECTORS.

DuckDB reads no log files, so it is asked for the read-optimised reads: the rows of the newest completed base file of
each file group, which the expected slices name.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb


def base_files(vector: Path) -> list[str]:
    """The base files of the newest slice with a base file in each file group."""
    [now] = [each["slices"] for each in _expected(vector, "slices") if each["as_of"] is None]
    newest = {each["file_group"]: each["base"] for each in now if each["base"]}  # sorted by barrier
    meta = json.loads((vector / "meta.json").read_text())
    found = []
    for group, instant in newest.items():
        partition, bucket = divmod(group, meta["table"]["buckets"])
        folder = vector / "table" / (f"p{partition}" if meta["table"]["partition"] else "")
        found += [str(path) for path in folder.glob(f"{bucket:08}-*_{instant}.parquet")]
    return found


def rows(files: list[str]) -> list[tuple[Any, ...]]:
    """The rows of base files, as sorted tuples (key, ordering, value, requested)."""
    if not files:
        return []
    query = 'select id, ts, "value", _hoodie_commit_time from read_parquet(?) order by id'
    found: list[tuple[Any, ...]] = duckdb.execute(query, [files]).fetchall()
    return found


def main(folder: str) -> int:
    """Read every vector of a folder."""
    counts: Counter[str] = Counter()
    for vector in sorted(path.parent for path in Path(folder).glob("*/meta.json")):
        if json.loads((vector / "meta.json").read_text())["table"]["columns"] != ["id", "part", "ts", "value"]:
            counts["not compared: other columns"] += 1
            continue
        for read in _expected(vector, "reads"):
            if read["kind"] != "read_optimized" or "refused" in read:
                continue
            expected = [(row["key"], row["ordering"], row["value"], row["requested"]) for row in read["rows"]]
            answer = rows(base_files(vector))
            counts["agree" if answer == expected else "UNKNOWN"] += 1
            if answer != expected:
                print(f"{vector.name}: {answer} instead of {expected}")
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    return int(counts["UNKNOWN"] > 0)


def _expected(vector: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((vector / "expected" / f"{name}.json").read_text())
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
