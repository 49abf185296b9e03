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
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER

from .drawing import MONO, SANS, svg
from .slices import slices
from .style import WRITERS, by_variables, css_variables
from .table_scene import TimeNames, clock, files, times
from .timeline import timeline

SCALE: Final = 1.4
MOST_INSTANTS: Final = 60
"""Bars that can be distinguished in the picture; the table below it has all instants."""

KINDS: Final = [WRITER.name] * len(WRITERS) + [COMPACTOR.name]
"""The actors whose hues a picture of a table may have."""

_CSS: Final = f"""
* {{ box-sizing: border-box; margin: 0; }}
body {{ background: var(--paper); color: var(--ink); font: 13px/1.45 {SANS}; padding: 18px 28px; max-width: 1560px;
  margin: 0 auto; }}
h1 {{ font-size: 21px; line-height: 1.32; font-weight: 600; letter-spacing: -.012em; margin: 6px 0 2px; }}
h2 {{ font-size: 13px; font-weight: 600; margin: 22px 0 6px; }}
p, dt, summary {{ color: var(--muted); overflow-wrap: anywhere; }}
dl {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 10px 20px; margin: 14px 0 0;
  padding: 12px 16px; background: var(--panel); border-radius: 8px; }}
dt {{ font-size: 11px; }}
dd {{ font-size: 15px; font-weight: 600; font-variant-numeric: tabular-nums; }}
.scroll {{ display: flex; overflow-x: auto; padding-bottom: 6px; scrollbar-width: thin;
  mask-image: linear-gradient(to right, #000 calc(100% - 40px), transparent); }}
.scroll > * {{ flex: none; }}
.scroll::after {{ content: ""; flex: 0 0 40px; }}
details {{ margin-top: 10px; }}
svg {{ fill: var(--ink); }}
[data-k] {{ fill: var(--muted); }}
.m {{ font-family: {MONO}; }}
summary {{ cursor: pointer; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; margin-top: 6px; }}
th, td {{ text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }}
th {{ color: var(--muted); font-size: 11px; font-weight: 400; }}
@media (max-width: 640px) {{ body {{ padding: 14px; }} .scroll svg {{ zoom: .85; }} }}
"""
"""What is wider than the page fades at the right edge, because a scrollbar may be hidden."""


def page_of(inventory: Inventory) -> str:
    title, names = f"{inventory.name}: timeline and file slices", TimeNames(inventory)
    pictures = (timeline(times(names, inventory, MOST_INSTANTS)), slices(files(names, inventory)))
    lines, groups = (_styled(svg(picture, width=round(picture.width * SCALE))) for picture in pictures)
    instants = (
        (
            names.name(i.requested), i.requested, names.name(i.completed) if i.completed else "", i.completed or "",
            i.action, i.state, str(i.files or ""), size(i.bytes) if i.files else "",
        )
        for i in inventory.instants
    )  # fmt: skip
    body = "\n".join(
        [
            *_head(inventory),
            f'<h2>Timeline</h2><div class="scroll">{lines}</div>',
            f'<h2>File slices</h2><div class="scroll">{groups}</div>',
            *_rest(inventory),
            *_folded("All instants", ("", "requested", "", "completed", "action", "state", "files", "size"), instants),
            *_folded("All files", ("partition", "file group", "barrier", "role", "file", "completed", "size"),
                     _files(inventory)),
        ]
    )  # fmt: skip
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<style>{css_variables(KINDS, _CSS + body)}{_CSS}</style></head><body>\n{body}\n</body></html>"
    )


def _styled(picture: str) -> str:
    """Return a picture that follows the theme of the page. What most of its marks share is in the page's style."""
    markup = by_variables(picture, KINDS).replace(f' font-family="{MONO}"', " class=m").replace(f'"{SANS}"', "inherit")
    return markup.replace(' fill="var(--ink)"', "").replace(' fill="var(--muted)"', " data-k")


def _head(inventory: Inventory) -> Iterator[str]:
    kind = f"version {inventory.version}, timeline layout {inventory.layout}, {inventory.type}, {inventory.merge_mode}"
    rules = {"nbcc": "nbcc's rules", "hudi": "Hudi's rules", "names": "the names of its files alone"}[inventory.rules]
    yield f"<h1>{escape(inventory.name)}</h1><p>{escape(inventory.url)}</p>"
    yield from (f"<p><strong>{escape(line.strip())}</strong></p>" for line in warning(inventory))
    yield f"<p>{escape(kind)}; read by {escape(rules)}</p>"
    if inventory.as_of:
        yield f"<p>as of {escape(inventory.as_of)}</p>"
    yield from (f"<p>{escape(notice)}</p>" for notice in inventory.notices)
    cells = (f"<div><dt>{escape(words)}</dt><dd>{escape(value)}</dd></div>" for words, value in _summary(inventory))
    yield f"<dl>{''.join(cells)}</dl>"


def _summary(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know first, as words and a value."""
    pending = [instant for instant in inventory.instants if instant.completed is None]
    groups = {(piece.partition, piece.file_group) for piece in inventory.slices}
    yield "completed instants", f"{len(inventory.instants) - len(pending):,}"
    yield "pending instants", f"{len(pending):,}"
    yield "partitions", f"{len({partition for partition, _ in groups}):,}"
    yield "file groups", f"{len(groups):,}"
    yield "files", f"{sum(len(piece.files) for piece in inventory.slices):,}"
    yield "size", size(sum(piece.size for piece in inventory.slices))
    yield "damaged files", f"{len(inventory.faults):,}"
    if newest := max((instant.completed for instant in inventory.instants if instant.completed), default=None):
        yield "newest completion, UTC", clock(newest)


def _folded(words: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"<details><summary>{escape(words)}</summary>"
    yield from _table(head, rows)
    yield "</details>"


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
