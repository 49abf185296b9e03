"""A read of one file group as a small tree, and its value for one key: a nested base, then logs in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..table import Log
from .record import Ranked, Rule, merge


class Fold(NamedTuple):
    """`base` was folded earlier, by a compaction; `logs` are merged in this order. One that is a fold itself is the log
    that a log compaction made of others: their winner, a delete too, which ranks where it stands.

    `tombstones` says how many of the logs are merged before the tombstones that the base's compaction kept; used only
    where those are a log like any other (fold = logs_first). `changed`, of a copy-on-write window and nothing else:
    base files in the order of their completion, each a base and one log, of which only what it changed counts.
    `columns`, of a base file: how many of the columns that were added it has; None: all.
    `foreign`, of a base file: another engine made it (see `foreign`), logs first, and has forgotten the deletes in it.
    `shown`: a winner counts only if it came from one of these logs; `deletes`: False if a winning delete is no answer.
    """

    base: Fold | None
    logs: tuple[Log | Fold, ...]
    tombstones: int = 0
    changed: tuple[Fold, ...] = ()
    shown: tuple[Log, ...] | None = None
    deletes: bool = True
    columns: int | None = None
    foreign: bool = False


NOTHING = Fold(None, ())


def logs_of(shape: Fold) -> Iterator[Log]:
    """Every log whose records are in the answer or were in a compaction that is."""
    if shape.base is not None:
        yield from logs_of(shape.base)
    for log in shape.logs:
        if isinstance(log, Fold):
            yield from logs_of(log)
        else:
            yield log
    for file in shape.changed:
        yield from logs_of(file._replace(base=None))


def evaluate(shape: Fold, record_of: Callable[[Log], Ranked | None], rule: Rule) -> Ranked | None:
    """The winner for one key, which may be a delete; `record_of` gives the key's record in a log, its place unset.

    What comes out of a base has lost its place: it ranks at the barrier, before every log of the slice. Since the
    greatest rank wins, folding the logs among themselves first changes nothing for rows; it matters for the tombstones
    of the base, which then are one of the logs.
    """
    if shape.changed:
        return _merged_changes(shape, record_of, rule)
    base = evaluate(shape.base, record_of, rule) if shape.base is not None else None
    if base is not None:
        base = base._replace(place=-1.0)
        if base.deleted and not keeps_deletes(shape, rule):
            base = None
    if (shape.foreign or rule.fold == "logs_first") and base is not None and base.deleted:
        base = base._replace(place=shape.tombstones - 0.5)
    winner = base
    for place, log in enumerate(shape.logs):
        record, name = (evaluate(log, record_of, rule), None) if isinstance(log, Fold) else (record_of(log), log)
        if record is not None:
            record = Ranked(record.ordering, float(place), record.deleted, record.content, record.log or name)
            winner = merge(winner, record, rule.event_time)
    return winner if winner is None or _comes_out(shape, winner) else None


def keeps_deletes(shape: Fold, rule: Rule) -> bool:
    """Whether the base of a fold still knows what was deleted in it."""
    return rule.keeps_tombstones and not (shape.base is not None and shape.base.foreign)


def _merged_changes(shape: Fold, record_of: Callable[[Log], Ranked | None], rule: Rule) -> Ranked | None:
    """The merge of what the files changed: upserts that are in their base file, and deletes of rows that were there.

    A record that lost against the rows below it left no trace, nor did a delete of nothing. What a file leaves out has
    no ordering value any more: it wins over all before it and loses against all after it.
    """
    winner: Ranked | None = None
    for place, file in enumerate(shape.changed):
        (log,) = file.logs
        assert not isinstance(log, Fold), "nobody compacts the logs of a table without logs"
        record, won = record_of(log), evaluate(file, record_of, rule)
        below = evaluate(file.base, record_of, rule) if file.base is not None else None
        was_there = below is not None and not below.deleted
        if record is None or won is None or won.content != record.content or (won.deleted and not was_there):
            continue
        record = record._replace(place=float(place))
        fenced = record.deleted or (winner is not None and winner.deleted)
        winner = record if fenced else merge(winner, record, rule.event_time)
    return winner


def _comes_out(shape: Fold, winner: Ranked) -> bool:
    return (shape.shown is None or winner.log in shape.shown) and (shape.deletes or not winner.deleted)
