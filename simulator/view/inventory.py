"""The page of `nbcc inspect --html`: a table's timeline and file slices in one file, without script or network.

The same encodings as the page of a trace: an instant is a bar from a hollow circle (requested) to a filled one
(completed), dashed while it is pending; a compaction's requested time is a barrier; base files are wide blocks, logs
are chips, and what no snapshot reads is hatched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

from nbcc.engine.audit import Inventory
from nbcc.engine.audit.amounts import size
from nbcc.engine.audit.inventory import FileRow, InstantRow, SliceRow

from .style import css_variables

MOST_INSTANTS: Final = 120
"""As many bars as can be told apart; the table below the picture has them all."""

_STEPS: Final = (14, 70)
"""Pixels from one time to the next: at least so that circles stay apart, at most so that few do not look lost."""

_WIDTH: Final = 900
_LANE: Final = 20

_CSS: Final = """
*{box-sizing:border-box}
body{margin:1.5rem;background:var(--paper);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
h1{font-size:1.25rem;margin:0}h2{font-size:1rem;margin:1.6rem 0 .5rem}
p{margin:.2rem 0;color:var(--muted)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.15rem .9rem .15rem 0;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--muted);font-weight:500}
.groups{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
.group{border:1px solid var(--line);border-radius:6px;padding:.6rem;background:var(--panel);width:17rem}
.group h3{font:600 12px/1.3 ui-monospace,monospace;margin:0 0 .4rem;overflow-wrap:anywhere}
.slice{border-top:2px solid var(--faint);padding:.35rem 0;display:flex;flex-wrap:wrap;gap:.3rem}
.slice>b{flex:1 0 100%;font-weight:500;font-size:12px}
.file{border:1px solid var(--faint);border-radius:4px;padding:.1rem .45rem;background:var(--paper);font-size:12px}
.base{flex:1 0 100%;border-width:2px}
.superseded .file{background:repeating-linear-gradient(135deg,var(--hatch) 0 5px,var(--paper) 5px 10px)}
svg text{font:11px ui-monospace,monospace;fill:var(--muted)}
.bar{stroke:var(--hue-0);stroke-width:3}.service{stroke:var(--hue-1)}.pending{stroke-dasharray:4 3}
.dot{stroke:var(--ink);stroke-width:1.5;fill:var(--paper)}.full{fill:var(--ink)}.barrier{stroke:var(--faint)}
"""


def page_of(found: Inventory) -> str:
    """The page as text (HTML, UTF-8)."""
    title = f"{found.name}: timeline and file slices"
    return "\n".join(
        [
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<style>{css_variables(['writer', 'service'])}{_CSS}</style></head><body>",
            *_head(found),
            "<h2>Timeline</h2>",
            f'<div class="scroll">{_timeline(found)}</div>',
            *_table(("requested", "completed", "action", "state", "files", "size"), _instant_rows(found)),
            *_slices(found),
            *_rest(found),
            "</body></html>",
        ]
    )


def _head(found: Inventory) -> Iterator[str]:
    kind = f"version {found.version}, timeline layout {found.layout}, {found.type}, {found.merge_mode}"
    rules = {"nbcc": "nbcc's rules", "hudi": "Hudi's rules", "names": "the names of its files alone"}[found.rules]
    yield f"<h1>{escape(found.name)}</h1><p>{escape(found.url)}</p><p>{escape(kind)}; read by {escape(rules)}</p>"
    if found.as_of:
        yield f"<p>as of {escape(found.as_of)}</p>"
    yield from (f"<p>{escape(notice)}</p>" for notice in found.notices)


def _timeline(found: Inventory) -> str:
    """Bars over the times in their order; a lane is used again once the instant before in it has completed."""
    shown = found.instants[-MOST_INSTANTS:]
    services = [_service(instant, found.type) for instant in shown]
    times = sorted({time for i in shown for time in (i.requested, i.completed) if time})
    step = min(max(_STEPS[0], _WIDTH // max(1, len(times))), _STEPS[1])
    at = {time: 20 + place * step for place, time in enumerate(times)}
    width = 40 + len(times) * step
    lanes: list[int] = []
    drawn = []
    for instant, service in zip(shown, services, strict=True):
        start, end = at[instant.requested], at[instant.completed] if instant.completed else width - 20
        lane = next((number for number, free in enumerate(lanes) if free < start), len(lanes))
        lanes[lane : lane + 1] = [end]
        drawn += _bar(instant, service, (start, end), 20 + lane * _LANE)
    height = 30 + len(lanes) * _LANE
    barriers = [at[i.requested] for i, service in zip(shown, services, strict=True) if service]
    lines = [f'<line class="barrier" x1="{x}" x2="{x}" y1="0" y2="{height}"/>' for x in barriers]
    left_out = len(shown) < len(found.instants)
    some = f"; the newest {len(shown)} of {len(found.instants)} instants" if left_out else ""
    note = f"○ requested, ● completed, dashed: pending, │ barrier of a compaction; times in order, not to scale{some}"
    return f'<p>{note}</p><svg width="{width}" height="{height}" role="img">{"".join([*lines, *drawn])}</svg>'


def _service(instant: InstantRow, table_type: str) -> bool:
    """Whether it is a compaction, pending or completed: on a merge-on-read table that is what a commit is."""
    return instant.action == "compaction" or (instant.action == "commit" and table_type == "MERGE_ON_READ")


def _bar(instant: InstantRow, service: bool, ends: tuple[int, int], y: int) -> list[str]:
    start, end = ends
    kind = "bar" + (" service" if service else "") + ("" if instant.completed else " pending")
    told = f"{instant.action} {instant.requested}, {instant.state}"
    told += f" {instant.completed}" if instant.completed else ""
    full = f'<circle class="dot full" cx="{end}" cy="{y}" r="4"/>' if instant.completed else ""
    return [
        f'<g><title>{escape(told)}</title><line class="{kind}" x1="{start}" x2="{end}" y1="{y}" y2="{y}"/>',
        f'<circle class="dot" cx="{start}" cy="{y}" r="4"/>{full}</g>',
    ]


def _instant_rows(found: Inventory) -> Iterator[tuple[str, ...]]:
    for i in found.instants:
        yield i.requested, i.completed or "", i.action, i.state, str(i.files or ""), size(i.bytes) if i.files else ""


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f'<div class="scroll"><table><tr>{"".join(f"<th>{escape(cell)}</th>" for cell in head)}</tr>'
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</table></div>"


def _slices(found: Inventory) -> Iterator[str]:
    yield f'<h2>File slices, {size(sum(piece.size for piece in found.slices))}</h2><div class="groups">'
    for (partition, group), pieces in groupby(found.slices, key=lambda piece: (piece.partition, piece.file_group)):
        where = f"{partition}/{group}" if partition else group
        yield f'<div class="group"><h3>{escape(where)}</h3>'
        for piece in reversed([*pieces]):  # the newest on top
            yield _slice(piece)
        yield "</div>"
    yield "</div>"


def _slice(piece: SliceRow) -> str:
    barrier = f"barrier {piece.barrier}" if piece.barrier else "no barrier"
    role = "" if piece.role == "read" else f", {piece.role}"
    files = [_file(piece.base, "base")] if piece.base else []
    files += [_file(file, "kept deletes") for file in piece.tombstones]
    files += [_file(file, "log") for file in piece.logs]
    return f'<div class="slice {piece.role}"><b>{escape(barrier)}, {size(piece.size)}{role}</b>{"".join(files)}</div>'


def _file(file: FileRow, kind: str) -> str:
    told = f"{file.name}, completed {file.completed or 'unknown'}"
    shape = " base" if kind == "base" else ""
    return f'<span class="file{shape}" title="{escape(told)}">{kind} {escape(file.requested)}, {size(file.size)}</span>'


def _rest(found: Inventory) -> Iterator[str]:
    if found.plans:
        yield "<h2>Pending compactions</h2>"
        rows = ((plan.barrier, plan.state, str(plan.groups), str(plan.logs)) for plan in found.plans)
        yield from _table(("barrier", "state", "file groups", "logs"), rows)
    if found.left_out:
        yield "<h2>Files that do not count</h2>"
        files = ((f"{f.partition}/{f.name}".removeprefix("/"), size(f.size), f.because) for f in found.left_out)
        yield from _table(("file", "size", "why"), files)
