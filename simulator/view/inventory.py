"""The page of `nbcc inspect --html`: a table's timeline and file slices in one HTML file without scripts or network
access.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from nbcc.engine.audit import Inventory
from nbcc.engine.audit.amounts import size
from nbcc.engine.audit.inventory_text import warning

from .slices import slices
from .style import css_variables
from .svg import svg
from .table_scene import TimeNames, files, times
from .timeline import timeline

MOST_INSTANTS: Final = 60
"""Bars that can be distinguished in the picture; the table below it has all instants."""

_CSS: Final = """
body{margin:1.5rem;background:var(--paper);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
h1{font-size:1.25rem;margin:0}h2{font-size:1rem;margin:1.6rem 0 .5rem}
p{margin:.2rem 0;color:var(--muted)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.15rem .9rem .15rem 0;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--muted);font-weight:500}
svg{border-radius:6px;margin-bottom:.6rem}
"""


def page_of(inventory: Inventory) -> str:
    title, names = f"{inventory.name}: timeline and file slices", TimeNames(inventory)
    pictures = (timeline(times(names, inventory, MOST_INSTANTS)), slices(files(names, inventory)))
    lines, groups = (svg(picture, width=round(picture.width * 1.4)) for picture in pictures)
    instants = (
        (
            names.name(i.requested), i.requested, names.name(i.completed) if i.completed else "", i.completed or "",
            i.action, i.state, str(i.files or ""), size(i.bytes) if i.files else "",
        )
        for i in inventory.instants
    )  # fmt: skip
    return "\n".join(
        [
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<style>{css_variables([])}{_CSS}</style></head><body>",
            *_head(inventory),
            f'<h2>Timeline</h2><div class="scroll">{lines}</div>',
            *_table(("", "requested", "", "completed", "action", "state", "files", "size"), instants),
            f"<h2>File slices, {size(sum(piece.size for piece in inventory.slices))}</h2>",
            f'<div class="scroll">{groups}</div>',
            *_table(("partition", "file group", "barrier", "role", "file", "completed", "size"), _files(inventory)),
            *_rest(inventory),
            "</body></html>",
        ]
    )


def _head(inventory: Inventory) -> Iterator[str]:
    kind = f"version {inventory.version}, timeline layout {inventory.layout}, {inventory.type}, {inventory.merge_mode}"
    rules = {"nbcc": "nbcc's rules", "hudi": "Hudi's rules", "names": "the names of its files alone"}[inventory.rules]
    yield f"<h1>{escape(inventory.name)}</h1><p>{escape(inventory.url)}</p>"
    yield from (f"<p><strong>{escape(line.strip())}</strong></p>" for line in warning(inventory))
    yield f"<p>{escape(kind)}; read by {escape(rules)}</p>"
    if inventory.as_of:
        yield f"<p>as of {escape(inventory.as_of)}</p>"
    yield from (f"<p>{escape(notice)}</p>" for notice in inventory.notices)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f'<div class="scroll"><table><tr>{"".join(f"<th>{escape(cell)}</th>" for cell in head)}</tr>'
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</table></div>"


def _files(inventory: Inventory) -> Iterator[Sequence[str]]:
    for piece in inventory.slices:
        place = (piece.partition, piece.file_group, piece.barrier or "none", piece.role)
        yield from ((*place, file.name, file.completed or "unknown", size(file.size)) for file in piece.files)


def _rest(inventory: Inventory) -> Iterator[str]:
    if inventory.plans:
        yield "<h2>Pending compactions</h2>"
        plans = ((plan.barrier, plan.state, str(plan.groups), str(plan.logs)) for plan in inventory.plans)
        yield from _table(("barrier", "state", "file groups", "logs"), plans)
    if inventory.left_out:
        yield "<h2>Files that do not count</h2>"
        rest = ((f"{f.partition}/{f.name}".removeprefix("/"), size(f.size), f.because) for f in inventory.left_out)
        yield from _table(("file", "size", "why"), rest)
    if inventory.faults:
        yield "<h2>Damaged files</h2>"
        yield from _table(("file", "fault"), ((fault.path, fault.because) for fault in inventory.faults))
