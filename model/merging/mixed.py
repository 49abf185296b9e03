"""Reads of rows that several records make up: column by column (`columns`), or by a user's function (`by_function`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..table import Log
from . import by_function, columns
from .by_function import Merged
from .columns import Made, Said, Says
from .fold import Fold
from .record import Record, Rule


def read(shape: Fold, said: Says, rule: Rule, deletes: bool) -> Made | Merged | None:
    """What a read shows of the key; None: nothing."""
    return by_function.read(shape, said, rule, deletes) if rule.laws else columns.read(shape, said, rule, deletes)


def by_definition(logs: Iterable[Log], rows: Mapping[Log, Said], rule: Rule, deletes: bool) -> Made | Merged | None:
    """What completed writes make of a key, whose logs come by rank."""
    if rule.laws:
        return by_function.by_definition(logs, rows, rule, deletes)
    return columns.by_definition(logs, rows, rule, deletes)


def records_of(made: Made | Merged, records: Callable[[Log], Record], rule: Rule, window: bool) -> Iterator[Record]:
    """The rows of an answer."""
    if isinstance(made, Merged):
        return by_function.records_of(made, records, rule)
    return columns.records_of(made, records, window)
