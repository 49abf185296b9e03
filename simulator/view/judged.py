"""The page of `nbcc judge`: the table, and the picture of the first change for the worse. It needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from string import Template

from ..trace import Trace
from .drawing import svg
from .figure import figure
from .page import plain
from .style import css_variables
from .trace_content import content_of

PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>$title</title>
<style>
$variables
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line) }
.picture { overflow-x: auto }
</style></head><body>
<h1>$title</h1>
<table>$rows</table>
$notes
$picture
</body></html>
""")


def page(table: Sequence[Sequence[str]], notes: Sequence[str], run: Trace | None) -> str:
    """Return the page as HTML text. The first row of the table has the names of its columns."""
    head, *rows = table
    cells = [_row("th", head), *(_row("td", row) for row in rows)]
    content = content_of(run) if run else None
    picture = ""
    if content:
        head_of = f"<h2>{escape(content.promise)}</h2><p>{escape(plain(content.sentence))}</p>"
        picture = f'{head_of}<div class="picture">{svg(figure(content))}</div>'
    return PAGE.substitute(
        title=escape(f"{head[2]} against {head[1]}"), rows="".join(cells), picture=picture,
        notes="".join(f"<p>{escape(note)}</p>" for note in notes),
        variables=css_variables(content.kinds if content else []),
    )  # fmt: skip


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
