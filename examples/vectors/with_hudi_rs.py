"""Reads vectors with hudi-rs (pip install hudi): python with_hudi_rs.py VECTORS.

Prints how many reads agree, and the known differences by name. The exit code is 1 if another read differs.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi import HudiQueryType, HudiReadOptions, HudiTable

ENGINE = "hudi-rs 0.5.0"
KINDS = ("snapshot", "as_of", "incremental")


def rows(table: HudiTable, read: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The answer of hudi-rs to a read, as sorted tuples (key, ordering, value, requested)."""
    options = HudiReadOptions()
    if read["kind"] == "incremental":
        options = options.with_query_type(HudiQueryType.Incremental)
        options = options.with_start_timestamp(read["after"]).with_end_timestamp(read["until"])
    elif read["until"]:
        options = options.with_as_of_timestamp(read["until"])
    batches = table.read(options)
    found = pa.Table.from_batches(batches).to_pylist() if batches else []
    return sorted((row["id"], row["ts"], row["value"], row["_hoodie_commit_time"]) for row in found)


def compare(vector: Path, counts: Counter[str]) -> None:
    """Compare every read of a vector that hudi-rs has, and count the outcomes."""
    meta = json.loads((vector / "meta.json").read_text())
    if reason := meta["not_compared"].get(ENGINE):
        counts[f"not compared: {reason}"] += 1
        return
    table = HudiTable(str(vector / "table"))
    for read in json.loads((vector / "expected" / "reads.json").read_text()):
        known = read.get("differs", {}).get(ENGINE)
        if read["kind"] not in KINDS or "refused" in read:
            counts["not compared: no such read, or one that must be refused"] += 1
            continue
        expected = [(row["key"], row["ordering"], row["value"], row["requested"]) for row in read["rows"]]
        try:
            answer: Any = rows(table, read)
        except Exception as error:  # hudi-rs exports no class of its errors
            answer = str(error)
        if answer == expected:
            counts["agree" if known is None else f"agree, though known: {known}"] += 1
        elif known is not None:
            counts[f"known: {known}"] += 1
        else:
            counts["UNKNOWN"] += 1
            print(f"{vector.name}: {read['kind']} ({read['after']}, {read['until']}]: {answer} instead of {expected}")


def main(folder: str) -> int:
    """Read every vector of a folder."""
    counts: Counter[str] = Counter()
    for vector in sorted(path.parent for path in Path(folder).resolve().glob("*/meta.json")):
        compare(vector, counts)
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    return int(counts["UNKNOWN"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
