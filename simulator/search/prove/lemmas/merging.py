"""How a merge combines the records of one key: by event time with tombstones, or by commit time without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from ..logic import Relation, Term, both, either, implies, no
from ..system import Formula
from . import core, options
from .state import LOG, PLAN

RECORDS: Final = (
    Relation("record", (LOG,), fixed=True),  # the log holds a record of the key
    Relation("ordering", (LOG,), "time", fixed=True),
    Relation("deleted", (LOG,), fixed=True),
    Relation("won", (PLAN, LOG)),  # the record of the log won the merge of the plan, and may be a delete
    Relation("kept", (PLAN, LOG)),  # the record of the log is in the base file of the plan
)


@dataclass(frozen=True)
class MergingOptions(options.CoreOptions):
    """The model options that affect the merge, with their supported values."""

    merge_order: Literal["completion", "requested"] = "completion"
    tombstones: Literal["keep", "drop"] = "keep"


@dataclass(frozen=True)
class CommitTimeOptions(MergingOptions):
    """The model options that affect a merge by commit time, with their supported values."""

    tombstones: Literal["keep", "drop"] = "keep"
    """Without effect: a merge by commit time keeps no tombstones."""


class MergingLemmas(core.Core):
    """The core transition relation, with formulas about the merge of the records of one key."""

    options: MergingOptions
    by_event: ClassVar[bool] = True

    @property
    def drops_deletes(self) -> bool:
        """True if a compaction drops a winning delete."""
        return not self.by_event or self.options.tombstones == "drop"

    def value(self, s: Any, log: Term) -> Term:
        """Return the ordering value by which a merge compares the record: all are equal in a merge by commit time."""
        return s.ordering(log) if self.by_event else 0

    def outranks(self, s: Any, one: Term, other: Term) -> Term:
        """True if the log `one` outranks the log `other`, by ordering value, then completion time, then log version."""
        return self._later(s, one, other, s.completed)

    def _later(self, s: Any, one: Term, other: Term, time: Any) -> Term:
        w, v = s.write_of(one), s.write_of(other)
        later = either(both(w != v, time(w) > time(v)), both(w == v, s.put_before(other, one)))
        if not self.by_event:
            return later
        return either(s.ordering(one) > s.ordering(other), both(s.ordering(one) == s.ordering(other), later))

    def beats_log(self, s: Any, one: Term, other: Term) -> Term:
        """True if the record of log `one` wins over the record of log `other`. A greater ordering value wins; if the
        values are equal, the log that is later in the order of `merge_order` wins.
        """
        by_completion = self.options.merge_order == "completion"
        return self._later(s, one, other, s.completed if by_completion else s.requested)

    def wins(self, s: Any, log: Term, base: Any, logs: Any) -> Term:
        """True if the log's record wins the merge of a base file and logs. `base` selects the logs whose records are in
        the base file, and `logs` selects the logs to merge. If ordering values are equal, a log wins over the base
        file.
        """

        def over_base(other: Term) -> Term:
            return self.value(s, log) >= self.value(s, other)

        in_logs = both(
            logs(log), s.record(log),
            s.every(LOG, lambda o: implies(both(logs(o), s.record(o), o != log), self.beats_log(s, log, o))),
            s.every(LOG, lambda o: implies(base(o), over_base(o))),
        )  # fmt: skip
        in_base = both(
            base(log),
            s.every(LOG, lambda o: implies(
                both(logs(o), s.record(o)), self.value(s, log) > self.value(s, o))),
        )
        return either(in_logs, in_base)

    def lasts(self, s: Any, log: Term) -> Term:
        """True if a base file keeps the log's record if it wins."""
        return no(s.deleted(log)) if self.drops_deletes else True

    def greatest_of(self, s: Any, log: Term, among: Any) -> Term:
        """True if the log's record has the highest rank of all records in logs that satisfy `among`."""
        return both(among(log), s.record(log), s.every(LOG, lambda o: implies(
            both(among(o), s.record(o), o != log), self.outranks(s, log, o))))  # fmt: skip

    def in_window(self, s: Any, log: Term, t: Term, until: Term) -> Any:
        """Return the predicate that is true for the logs of the log's file group that the window (t, until] merges."""
        return lambda o: both(s.group_of(o) == s.group_of(log), self.delivered(s, s.write_of(o), t, until))

    def background(self) -> dict[str, Formula]:
        return {"the logs of a write have an order": order_of_logs}


def order_of_logs(s: Any) -> Term:
    """True if `put_before` is a strict total order on the logs of each write."""

    def same(*logs: Term) -> Term:
        return both(*(s.write_of(log) == s.write_of(logs[0]) for log in logs))

    return both(
        s.every(LOG, LOG, lambda a, b: implies(s.put_before(a, b), both(same(a, b), no(s.put_before(b, a))))),
        s.every(
            LOG, LOG, lambda a, b: implies(both(same(a, b), a != b), either(s.put_before(a, b), s.put_before(b, a)))
        ),
        s.every(
            LOG, LOG, LOG, lambda a, b, c: implies(both(s.put_before(a, b), s.put_before(b, c)), s.put_before(a, c))
        ),
    )
