"""An inventory as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from .amounts import size
from .inventory import FileRow, Inventory, SliceRow

_ROLES = {"read": "", "superseded": "   superseded", "planned": "   planned: read together with the slice before it"}


def render(found: Inventory) -> str:
    """The inventory in lines; no newline at the end."""
    return "\n".join([*_head(found), "", *_instants(found), "", *_slices(found), *_plans(found), *_left_out(found)])


def _head(found: Inventory) -> Iterator[str]:
    yield f"{found.name}  {found.url}"
    kind = f"version {found.version}, timeline layout {found.layout}, {found.type}, {found.merge_mode}"
    rules = {"nbcc": "nbcc's rules", "hudi": "Hudi's rules", "names": "the names of its files alone"}[found.rules]
    yield f"  {kind}; read by {rules}"
    if found.as_of:
        yield f"  as of {found.as_of}"
    for notice in found.notices:
        yield f"  {notice}"


def _instants(found: Inventory) -> Iterator[str]:
    pending = sum(instant.state != "completed" for instant in found.instants)
    yield f"Instants: {len(found.instants)}, of which {pending} pending"
    rows = [
        (i.requested, i.completed or "-", i.action, i.state, str(i.files or ""), size(i.bytes) if i.files else "")
        for i in found.instants
    ]
    yield from _columns([("requested", "completed", "action", "state", "files", "size"), *rows])


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _slices(found: Inventory) -> Iterator[str]:
    groups = {(piece.partition, piece.file_group) for piece in found.slices}
    total = sum(piece.size for piece in found.slices)
    read = sum(piece.size for piece in found.slices if piece.role != "superseded")
    counts = f"{len(found.slices)} in {len(groups)} file groups"
    yield f"File slices: {counts}, {size(total)}, of which a snapshot reads {size(read)}"
    for (partition, group), pieces in groupby(found.slices, key=lambda piece: (piece.partition, piece.file_group)):
        yield f"  {partition + '/' if partition else ''}{group}"
        for piece in pieces:
            yield from _slice(piece)


def _slice(piece: SliceRow) -> Iterator[str]:
    barrier = f"barrier {piece.barrier}" if piece.barrier else "no barrier"
    yield f"    {barrier}, {size(piece.size)}{_ROLES[piece.role]}"
    yield from _files(("base", [piece.base] if piece.base else []), ("kept", piece.tombstones), ("log", piece.logs))


def _files(*kinds: tuple[str, Iterable[FileRow]]) -> Iterator[str]:
    for kind, files in kinds:
        for file in files:
            done = f"completed {file.completed}" if file.completed else "completed -"
            yield f"      {kind:4} {file.name}  {size(file.size)}  {done}"


def _plans(found: Inventory) -> Iterator[str]:
    if found.plans:
        yield ""
        yield "Pending compactions"
    for plan in found.plans:
        yield f"  {plan.barrier} {plan.state}: {plan.logs} logs in {plan.groups} file groups"


def _left_out(found: Inventory) -> Iterator[str]:
    if found.left_out:
        yield ""
        yield f"Files that do not count: {len(found.left_out)}, {size(sum(file.size for file in found.left_out))}"
    for file in found.left_out:
        partition = f"{file.partition}/" if file.partition else ""
        yield f"  {partition}{file.name}  {size(file.size)}: {file.because}"
