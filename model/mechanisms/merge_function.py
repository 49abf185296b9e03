"""User-defined merge functions combine two records of a key into one row.

The correct row of a key follows from all writes of the key: a delete hides all records of writes that completed before
the delete, and the merge function combines the records that completed after the last delete into one value. If the
function satisfies the laws (LAWS in docs/contract.md), every order and grouping of merges has the same result.

A read merges the records of one key file by file, in the same order as in a table without a merge function. The model
uses the most general merge function: two merged values are equal only if the given laws imply it. If a property holds
for the most general function, it holds for every function that satisfies the same laws.

If the function is associative, commutative and idempotent, the model represents a merged value as the set of merged
records. For a function that is not idempotent, such as a sum, the value also counts how often each record was merged.
For a function that is not commutative, the value lists the records in the order in which they were merged, without
repetitions. For a function that is not associative, the value also records how partial results were grouped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, TypeVar

from ..answers import Record
from ..kernel.merge import Fold, Merger
from ..kernel.table import Log
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..rules import Rules
from ..world import World
from .copy_on_write import is_copy_on_write
from .partial_updates import Content, PartialColumns

Written = TypeVar("Written")


def value_of(written: Sequence[Written | None], function: Callable[[Written, Written], Written]) -> Written | None:
    """Return the value that results from merging all writes of a key; None if the key has no row. `written` lists the
    values of the key in write order; a delete is None.
    """
    last = max((place for place, value in enumerate(written) if value is None), default=-1)
    since = [value for value in written[last + 1 :] if value is not None]
    return reduce(function, since) if since else None


Contents = Callable[[Log], Content | None]
Value = tuple[Any, ...]
"""Logs; or of `not_associative` one log, or one pair of such values."""


def _pair(one: Value, other: Value) -> Value:
    return one if one == other else (tuple(sorted((one, other), key=repr)),)


FUNCTIONS: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "all": lambda one, other: tuple(sorted({*one, *other})),
    "not_idempotent": lambda one, other: tuple(sorted((*one, *other))),
    "not_commutative": lambda one, other: tuple(dict.fromkeys((*one, *other))),
    "not_associative": _pair,
}
"""By the law that the function breaks (`all`: it breaks none). The older value is the first argument."""


class MergedRecords(NamedTuple):
    """The merged state of one key. `value` is the merged value; () if the key has no row. `newest` is the log of the
    last record, in merge order, that was merged into `value`. `delete` is the log that contains the last delete; None
    if there is none, or if the answer omits deletes.
    """

    value: Value = ()
    newest: Log | None = None
    delete: Log | None = None


def join(older: MergedRecords, newer: MergedRecords, laws: str) -> MergedRecords:
    """Merge two partial results for one key that are adjacent in merge order. A delete in `newer` hides the whole value
    of `older`.
    """
    if newer.delete is not None or not older.value:
        return newer._replace(delete=newer.delete or older.delete)
    if not newer.value:
        return older
    return MergedRecords(FUNCTIONS[laws](older.value, newer.value), newer.newest, older.delete)


def read(fold: Fold, content: Contents, laws: str, deletes: bool) -> MergedRecords | None:
    """Return the answer of a read for one key; None if the answer contains neither a row nor a delete."""
    made = of_fold(fold, content, laws)
    if fold.shown is not None and made.newest not in fold.shown:
        made = made._replace(value=(), newest=None)
    return _shown(made, deletes and fold.deletes)


def of_fold(fold: Fold, content: Contents, laws: str) -> MergedRecords:
    """Return the state of one key after merging the files in a merge tree. Deletes in base files are dropped, because
    they cannot hide records of newer logs.
    """
    made = MergedRecords() if fold.base is None else of_fold(fold.base, content, laws)._replace(delete=None)
    for log in fold.logs:
        newer = of_fold(log, content, laws) if isinstance(log, Fold) else _of_log(log, content(log))
        made = join(made, newer, laws)
    return made


def _of_log(log: Log, record: Content | None) -> MergedRecords:
    if record is None:
        return MergedRecords()
    return MergedRecords(delete=log) if record.deleted else MergedRecords((log,), log)


def _shown(made: MergedRecords, deletes: bool) -> MergedRecords | None:
    made = made if deletes else made._replace(delete=None)
    return made if made.value or made.delete else None


def by_definition(logs: Iterable[Log], rows: Mapping[Log, Content], laws: str, deletes: bool) -> MergedRecords | None:
    """Return the correct answer for one key: the merge of its log records in completion order."""
    here = [log for log in logs if log in rows]
    value = value_of([None if rows[log].deleted else (log,) for log in here], FUNCTIONS[laws])
    delete = next((log for log in reversed(here) if rows[log].deleted), None)
    return _shown(MergedRecords(value, here[-1], delete) if value else MergedRecords(delete=delete), deletes)


def merged_on(state: MergedRecords, window: MergedRecords, laws: str) -> MergedRecords | None:
    """Merge `window`, the answer of an incremental query for one key, into the key's older `state`."""
    return _shown(join(state, window, laws), deletes=True)


def records_of(made: MergedRecords, records: Callable[[Log], Record], laws: str) -> Iterator[Record]:
    """Yield the records that a read returns for one key: the merged row and the delete, if any. The merged row has the
    requested time of the newest merged record, and the greatest ordering value of all merged records. A returned delete
    has no ordering value.
    """
    if made.newest is not None:
        names = {log: str(records(log).value) for log in logs_in(made.value)}
        greatest = max(records(log).ordering for log in names)
        yield Record(greatest, text_of(made.value, names.__getitem__, laws), requested=made.newest[0])
    if made.delete is not None:
        gone: Any = records(made.delete)
        yield gone._replace(ordering=None, requested=made.delete[0])


def logs_in(value: Value) -> Iterator[Log]:
    """Yield the logs whose records are part of a merged value."""
    for part in value:
        if isinstance(part[0], tuple):
            for each in part:
                yield from logs_in(each)
        else:
            yield part


def text_of(value: Value, name: Callable[[Log], str], laws: str) -> str:
    """Return a merged value as text, which consists of the names of its records. Record names are sorted if the merge
    function is commutative. If the function is not associative, the text `(a b)` denotes the merge of a and b.
    """
    parts = []
    for part in value:
        pair = isinstance(part[0], tuple)
        parts.append(f"({' '.join(sorted(text_of(each, name, laws) for each in part))})" if pair else name(part))
    return " ".join(parts if laws == "not_commutative" else sorted(parts))


def law_broken(laws: str) -> str | None:
    """Return a phrase that describes the first law violated by a merge function; None if it violates none."""
    function = FUNCTIONS[laws]
    one, other, third = (((place, 1),) for place in (1, 2, 3))
    if function(one, other) != function(other, one):
        return "depends on which of two rows came first"
    if function(function(one, other), third) != function(one, function(other, third)):
        return "depends on which two of three rows are merged first"
    return "makes another row of a row and itself" if function(one, one) != one else None


class MergeFunction(Options):
    """The option that states which laws (such as commutativity) the table's merge function satisfies."""

    merge_laws: Literal["all", "not_idempotent", "not_commutative", "not_associative"] = option(
        "all",
        "The laws that the merge function of a table keeps: all of them; or all but the named one.",
    )


class ByFunction(NamedTuple):
    """Combines several records into one row with a merge function that satisfies the laws named by `laws`. Implements
    `kernel.merge.Combination`.
    """

    laws: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    def read(
        self, fold: Fold, content: Callable[[Log], Content | None], merger: Merger, deletes: bool
    ) -> MergedRecords | None:
        return read(fold, content, self.laws, deletes)

    def by_definition(
        self, logs: Iterable[Log], rows: Mapping[Log, Content], merger: Merger, deletes: bool
    ) -> MergedRecords | None:
        return by_definition(logs, rows, self.laws, deletes)

    def records_of(self, made: MergedRecords, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        return records_of(made, records, self.laws)

    def merged_on(
        self,
        logs: tuple[Log, ...],
        rows: Mapping[Log, Any],
        state: MergedRecords | None,
        window: MergedRecords | None,
        merger: Merger,
    ) -> MergedRecords | None:
        return merged_on(state or MergedRecords(), window or MergedRecords(), self.laws)


class MergesByFunction(Rules):
    """In a table with a user-defined merge function, the function merges the records of a key."""

    compares_requested_times = False

    def merger(self, world: Any) -> Merger:
        kernel = super().merger(world)
        if not world.custom:
            return kernel
        return kernel._replace(combination=ByFunction(self[MergeFunction].merge_laws))


def check(world: World) -> None:
    """Raise ValueError if a table with a merge function has no log files or allows partial updates."""
    if world.custom and (is_copy_on_write(world) or world[PartialColumns].columns):
        raise ValueError("world: a user's function merges whole rows of a MERGE_ON_READ table; leave columns out")


MECHANISM = Mechanism(options=MergeFunction, rules=lambda protocol: (MergesByFunction,), check=check)
