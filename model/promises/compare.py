"""One read held against the oracle, or against another read: None, or the sentence that says how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..fold import Fold, logs_of
from ..model import Model, State
from ..table import Log, Write
from . import oracle
from .sentences import key_given, row_of, several, write_named
from .valuations import Valuation, differ, differs_from_oracle, expected, names_for, read, renamed


class Ledger:
    """The writes of a state: the completed ones by rank, as the oracle knows them, and whatever else there is."""

    def __init__(self, model: Model, state: State) -> None:
        self.model = model
        self.published = model.component(state, "published")
        everything = {write.requested: write for write in model.table(state).writes}
        self.writes: Mapping[int, Write] = everything

    def logs(self, group: int, after: float, until: float) -> tuple[Log, ...]:
        """The oracle's logs of a window, by rank."""
        return oracle.logs_by_rank(oracle.completed(self.published, after, until), group)

    def names(self, group: int, *shapes: Fold) -> dict[Log, Log]:
        """Names by rank for all completed logs of a group and whatever else the shapes hold."""
        known = self.logs(group, 0, float("inf"))
        others = {log for shape in shapes for log in logs_of(shape)} - set(known)
        return names_for((*known, *sorted(others)))

    def named(self, rows: Valuation, names: Mapping[Log, Log]) -> Valuation:
        """A valuation in the table's own names."""
        back = {short: log for log, short in names.items()}
        return {back[short]: row for short, row in rows.items()}


def against_oracle(
    ledger: Ledger, what: str, group: int, shape: Fold, *, right: tuple[Log, ...], deletes: bool = False
) -> str | None:
    """A read of one file group against the completed writes whose logs are `right`."""
    names = ledger.names(group, shape)
    rule = ledger.model.rule
    wanted = tuple(names[log] for log in right)
    rows = differs_from_oracle(renamed(shape, names), wanted, len(names), rule, deletes)
    if rows is None:
        return None
    own = ledger.named(rows, names)
    found, should = read(shape, own, rule, deletes), expected(right, own, rule, deletes)
    return (
        f"{what} in group {group}{misses(ledger, shape, right)}: {key_given(own, ledger.writes)} shows "
        f"{row_of(found, ledger.writes)}, not {row_of(should, ledger.writes)}"
    )


def misses(ledger: Ledger, shape: Fold, right: Iterable[Log]) -> str:
    """Which writes a read leaves out or takes in wrongly; empty if it takes the right ones."""
    held = {log[0] for log in logs_of(shape)}
    wanted = {log[0] for log in right}
    parts = []
    if lost := sorted(wanted - held):
        parts.append("misses " + several(write_named(ledger.writes[at]) for at in lost))
    if extra := sorted(held - wanted):
        named = (write_named(ledger.writes[at]) if at in ledger.writes else f"the write of t{at}" for at in extra)
        parts.append("holds " + several(named))
    return f" {several(parts)}" if parts else ""


def one_against_other(ledger: Ledger, group: int, before: Fold, after: Fold, deletes: bool = False) -> str | None:
    """Two reads of the same thing: the part of a sentence that says what a key showed and what it shows now."""
    if before == after:
        return None
    names = ledger.names(group, before, after)
    rule = ledger.model.rule
    rows = differ(renamed(before, names), renamed(after, names), len(names), rule, deletes)
    if rows is None:
        return None
    own = ledger.named(rows, names)
    had, has = read(before, own, rule, deletes), read(after, own, rule, deletes)
    return (
        f"in group {group}: {key_given(own, ledger.writes)} showed {row_of(had, ledger.writes)} and now shows "
        f"{row_of(has, ledger.writes)}"
    )
