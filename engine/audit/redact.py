"""Replaces a table's URL, name, partition paths and random file ids with pseudonyms.

Partitions and file groups are numbered in the order of their first files, so that new files do not change existing
pseudonyms. Times, actions, sizes, buckets, versions and write tokens are not redacted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from .inventory import FileRow, Inventory, LeftOut, SliceRow
from .record import DamagedFile

HIDDEN: Final = "(redacted)"

_FIXED_ID: Final = re.compile(r"\d{8}-0{4}-0{4}-0{4}-0{12}-\d+")
_BUCKET_ID: Final = re.compile(r"(\d{8})-.+-(\d+)")

Rename = Callable[[str], str]


def redacted(inventory: Inventory) -> Inventory:
    """Return the inventory with its names and file ids replaced by pseudonyms. The paths of damaged files are also
    hidden, except paths below ``.hoodie``.
    """
    partition = _numbered("p", _partitions(inventory))
    file_id = _file_ids(inventory)
    return replace(
        inventory,
        name=HIDDEN,
        url=HIDDEN,
        slices=tuple(_slice(piece, partition, file_id) for piece in inventory.slices),
        left_out=tuple(_left_out(file, partition, file_id) for file in inventory.left_out),
        faults=_faults(inventory.faults),
        missing_or_cut=_faults(inventory.missing_or_cut),
    )


def _faults(faults: Iterable[DamagedFile]) -> tuple[DamagedFile, ...]:
    return tuple(DamagedFile(f.kind, f.path if f.path.startswith(".hoodie/") else HIDDEN, HIDDEN) for f in faults)


def _slice(piece: SliceRow, partition: Rename, file_id: Rename) -> SliceRow:
    return replace(
        piece,
        partition=partition(piece.partition),
        file_group=file_id(piece.file_group),
        base=_file(piece.base, file_id) if piece.base else None,
        tombstones=tuple(_file(file, file_id) for file in piece.tombstones),
        logs=tuple(_file(file, file_id) for file in piece.logs),
    )


def _file(file: FileRow, file_id: Rename) -> FileRow:
    return replace(file, name=_renamed(file.name, file_id))


def _left_out(file: LeftOut, partition: Rename, file_id: Rename) -> LeftOut:
    return replace(file, partition=partition(file.partition), name=_renamed(file.name, file_id))


def _renamed(name: str, file_id: Rename) -> str:
    dot = "." if name.startswith(".") else ""
    head, _, tail = name.removeprefix(".").partition("_")
    return f"{dot}{file_id(head)}_{tail}"


def _by_first_file(files: Iterable[tuple[str, str]]) -> list[str]:
    first: dict[str, str] = {}
    for name, requested in files:
        first[name] = min(requested, first.get(name, requested))
    return sorted(first, key=lambda name: (first[name], name))


def _begun(piece: SliceRow) -> str:
    return min((file.requested for file in piece.files), default=piece.barrier or "")


def _partitions(inventory: Inventory) -> list[str]:
    slices = [(piece.partition, _begun(piece)) for piece in inventory.slices]
    return _by_first_file([*slices, *((file.partition, file.requested) for file in inventory.left_out)])


def _file_ids(inventory: Inventory) -> Rename:
    slices = [(piece.file_group, _begun(piece)) for piece in inventory.slices]
    late = [(file.name.removeprefix(".").partition("_")[0], file.requested) for file in inventory.left_out]
    ids = _by_first_file([*slices, *late])
    random = [file_id for file_id in ids if not _FIXED_ID.fullmatch(file_id)]
    number = {file_id: place for place, file_id in enumerate(random, start=1)}

    def rename(file_id: str) -> str:
        if file_id not in number:
            return file_id
        bucket = _BUCKET_ID.fullmatch(file_id)
        return f"{bucket[1]}-g{number[file_id]}-{bucket[2]}" if bucket else f"g{number[file_id]}"

    return rename


def _numbered(letter: str, values: Iterable[str]) -> Rename:
    """Return a function that maps each of `values` to a pseudonym, such as ``p1`` for the first value. The partition
    path '' of an unpartitioned table is not replaced.
    """
    names = {value: f"{letter}{place}" for place, value in enumerate((v for v in values if v), start=1)}
    return lambda value: names.get(value, "")
