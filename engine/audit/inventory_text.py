"""Formats an inventory of a table as text for a terminal: a summary for each partition, or all instants, slices and
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ..terminal import folded, printable
from .amounts import several, size
from .inventory import FileRow, Inventory, LeftOut, SliceRow

LIMIT: Final = 10
"""How many rows of each part a summary shows."""

_NAMED: Final = 3
"""How many missing or cut files the first lines name."""

_NUMBERS: Final = re.compile(r" \([^)]*\d{4,}\)| \d{4,}")
"""The times in a reason. Without them, files with the same reason count together."""

_ROLES = {"read": "", "superseded": "   superseded", "planned": "   planned: read together with the slice before it"}


def render(inventory: Inventory, limit: int | None = LIMIT) -> str:
    """Return the inventory as text, without a newline at the end.

    `limit` is the maximum number of rows in each part of the summary, whose lines are folded. If `limit` is None, the
    text lists every instant, slice and file, each on one line.
    """
    parts = [_head(inventory), _instants(inventory, limit)]
    parts.append(_slices(inventory) if limit is None else _partitions(inventory, limit))
    parts += [_plans(inventory), _left_out(inventory, limit), _faults(inventory, limit)]
    shown = (map(printable, part) if limit is None else folded(part) for part in parts)
    return "\n\n".join("\n".join(lines) for part in shown if (lines := [*part]))


def rules_in_words(rules: str) -> str:
    """Return a phrase for the rules by which a table is read, such as "Hudi's rules"."""
    return {"nbcc": "nbcc's rules", "hudi": "Hudi's rules", "names": "the names of its files alone"}[rules]


def _head(inventory: Inventory) -> Iterator[str]:
    yield f"{inventory.name}  {inventory.url}"
    yield from warning(inventory)
    kind = f"version {inventory.version}, timeline layout {inventory.layout}"
    yield f"  {kind}, {inventory.type}, {inventory.merge_mode}; read by {rules_in_words(inventory.rules)}"
    if inventory.as_of:
        yield f"  as of {inventory.as_of}"
    for notice in inventory.notices:
        yield f"  {notice}"


def warning(inventory: Inventory) -> Iterator[str]:
    """Yield lines that name the first missing or cut data files; no line if there are none."""
    damaged = inventory.missing_or_cut
    if damaged:
        yield f"  DAMAGED: {several(len(damaged), 'data file')} missing or cut that completed commits list;"
        yield "  reads fail, or return no row of these files (nbcc validate explains):"
    yield from (f"    {fault.path}: {fault.because}" for fault in damaged[:_NAMED])
    if len(damaged) > _NAMED:
        yield f"    and {len(damaged) - _NAMED:,} more"


def _instants(inventory: Inventory, limit: int | None) -> Iterator[str]:
    count, pending = len(inventory.instants), sum(i.state != "completed" for i in inventory.instants)
    shown = inventory.instants if limit is None else inventory.instants[-limit:]
    newest = f"; the newest {len(shown)}" if len(shown) < count else ""
    yield f"Instants: {count:,}, {pending:,} of them pending{newest}"
    rows = [
        (i.requested, i.completed or "-", i.action, i.state, str(i.files or ""), size(i.bytes) if i.files else "")
        for i in shown
    ]
    yield from _columns([("requested", "completed", "action", "state", "files", "size"), *rows])


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _total(slices: Sequence[SliceRow]) -> str:
    groups = {(piece.partition, piece.file_group) for piece in slices}
    read = sum(piece.size for piece in slices if piece.role != "superseded")
    counts = f"{len(slices):,} in {several(len(groups), 'file group')}"
    return f"File slices: {counts}, {size(sum(piece.size for piece in slices))}; a snapshot reads {size(read)}"


def _partitions(inventory: Inventory, limit: int) -> Iterator[str]:
    yield _total(inventory.slices)
    partitions = [
        (partition, [*pieces]) for partition, pieces in groupby(inventory.slices, key=lambda piece: piece.partition)
    ]
    rows = [_partition_row(partition or "(no partition)", pieces) for partition, pieces in partitions[:limit]]
    if len(partitions) > limit:
        others = [piece for _, pieces in partitions[limit:] for piece in pieces]
        rows.append(_partition_row(f"{len(partitions) - limit:,} more", others))
    head = ("partition", "file groups", "slices", "base files", "logs", "size", "read by a snapshot")
    if rows:
        yield from _columns([head, *rows])
        yield "  --all lists every instant, slice and file"


def _partition_row(name: str, pieces: Sequence[SliceRow]) -> tuple[str, ...]:
    groups = len({(piece.partition, piece.file_group) for piece in pieces})
    bases, logs = sum(piece.base is not None for piece in pieces), sum(len(piece.logs) for piece in pieces)
    sizes = [sum(piece.size for piece in pieces), sum(piece.size for piece in pieces if piece.role != "superseded")]
    return (name, *(f"{count:,}" for count in (groups, len(pieces), bases, logs)), *map(size, sizes))


def _slices(inventory: Inventory) -> Iterator[str]:
    yield _total(inventory.slices)
    for (partition, group), pieces in groupby(inventory.slices, key=lambda piece: (piece.partition, piece.file_group)):
        yield f"  {partition + '/' if partition else ''}{group}"
        for piece in pieces:
            barrier = f"barrier {piece.barrier}" if piece.barrier else "no barrier"
            yield f"    {barrier}, {size(piece.size)}{_ROLES[piece.role]}"
            yield from (_file(kind, file) for kind, file in piece.kinds)


def _file(kind: str, file: FileRow) -> str:
    return f"      {kind:4} {file.name}  {size(file.size)}  completed {file.completed or '-'}"


def _plans(inventory: Inventory) -> Iterator[str]:
    if inventory.plans:
        yield f"Pending compactions: {len(inventory.plans):,}"
    for plan in inventory.plans:
        yield f"  {plan.barrier} {plan.state}: {several(plan.logs, 'log')} in {several(plan.groups, 'file group')}"


def _left_out(inventory: Inventory, limit: int | None) -> Iterator[str]:
    """Yield one line for each data file that is not read, with the reason. If `limit` is given, yield only the number
    of files for each of the most frequent reasons.
    """
    if not inventory.left_out:
        return
    yield f"Files that no read uses: {_amount(inventory.left_out)}"
    if limit is None:
        for file in inventory.left_out:
            partition = f"{file.partition}/" if file.partition else ""
            yield f"  {partition}{file.name}  {size(file.size)}: {file.because}"
        return
    by_reason: dict[str, list[LeftOut]] = {}
    for file in inventory.left_out:
        by_reason.setdefault(_NUMBERS.sub("", file.because), []).append(file)
    for reason, files in sorted(by_reason.items(), key=lambda item: -len(item[1]))[:limit]:
        yield f"  {_amount(files)}: {reason}"


def _amount(files: Sequence[LeftOut]) -> str:
    return f"{several(len(files), 'file')}, {size(sum(file.size for file in files))}"


def _faults(inventory: Inventory, limit: int | None) -> Iterator[str]:
    if inventory.faults:
        yield f"Damaged files: {len(inventory.faults):,}; what they record is missing above (nbcc validate explains)"
    for fault in inventory.faults[:limit]:
        yield f"  {fault.path}: {fault.because}"
