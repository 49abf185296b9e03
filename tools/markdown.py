"""Writes the tables of generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield _line(head)
    yield "|" + "---|" * len(head)
    yield from map(_line, rows)


def _line(cells: Sequence[object]) -> str:
    return "|" + "".join(f" {cell} |" for cell in cells)
