"""Writes the tables of generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield _line(head)
    yield "|" + "---|" * len(head)
    yield from map(_line, rows)


def with_tables(page: str, tables: Mapping[str, str], command: str) -> str:
    """Return a page with its tables written again, each between a comment that names it and `command`, and an end.
    Raises `ValueError` if the page lacks one.
    """
    for name, lines in tables.items():
        begin = f"<!-- table {name}: {command} -->\n"
        before, found, rest = page.partition(begin)
        if not found:
            raise ValueError(f"the page has no table {name}")
        page = f"{before}{begin}{lines}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def _line(cells: Sequence[object]) -> str:
    return "|" + "".join(f" {cell} |" for cell in cells)
