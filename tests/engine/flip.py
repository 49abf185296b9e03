"""The child process of test_flipped_bits.py: flips single bits of a file, and prints what each read returns.

Usage: flip.py TABLE FILE ranged|whole
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
import warnings
from pathlib import Path

from nbcc import Table
from nbcc.engine.data import ranged_file
from nbcc.engine.errors import NbccError

FLIPS = 150


def rows(folder: str) -> list[str]:
    table = Table.open(None, folder)
    all_rows, some = table.snapshot(), table.snapshot(where=[("ts", ">=", 2)])
    return [*sorted(map(str, all_rows.to_pylist())), "", *sorted(map(str, some.to_pylist()))]


def outcome(folder: str, expected: list[str]) -> str:
    try:
        return "same" if rows(folder) == expected else "other"
    except NbccError as failed:
        return type(failed).__name__
    except Exception as failed:
        return f"untyped-{type(failed).__name__}"


def main(folder: str, file: str, mode: str) -> None:
    warnings.simplefilter("ignore")
    if mode == "ranged":
        vars(ranged_file).update(WHOLE_BYTES=0, TAIL_BYTES=1 << 9)
    path, chance = Path(file), random.Random(7)
    good, expected = path.read_bytes(), rows(folder)
    tail = range(max(0, len(good) - 1500), len(good))  # the footer, whose damage ended processes
    for number in range(FLIPS):
        place = chance.choice(tail) if number % 2 else chance.randrange(len(good))
        data = bytearray(good)
        data[place] ^= 1 << chance.randrange(8)
        path.unlink()
        if digest := re.fullmatch(r"([0-9]{17}_)[0-9a-f]{32}(\.parquet)", path.name):
            path = path.with_name(f"{digest[1]}{hashlib.sha256(data).hexdigest()[:32]}{digest[2]}")
        path.write_bytes(data)
        print(outcome(folder, expected), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
