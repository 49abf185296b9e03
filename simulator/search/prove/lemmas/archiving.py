"""Archiving: completed instants are copied to the archive, then removed from the active timeline, oldest first.

A listing of the active timeline may miss an instant that is removed during the listing, so a reader reads the archive
after each listing. In the transition relation, an archiver may archive any set of instants that the rules allow. The
actions do not record which archiver performs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ..logic import Relation, Term, Update, at, both, choose, either, implies, no
from ..system import Claim, Formula, Move, SetParameter
from . import core, options
from .instants import PLANS, WRITES, Instants, is_greatest
from .state import HELD, IDLE, LISTED, OPENED, PLAN, PUBLISHED, READER, SURE, WRITE, published

TIMELINES: Final = (
    Relation("archived", (WRITE,)),
    Relation("archived_plan", (PLAN,)),
    Relation("removed", (WRITE,)),  # from the active timeline
    Relation("removed_plan", (PLAN,)),
)
OPENED_FIRST: Final = (
    Relation("opened", (READER,)),  # the reader has read the archive before its first listing
    Relation("found", (READER, WRITE)),
    Relation("found_plan", (READER, PLAN)),
)
BOUND = "nothing is archived past a pending instant, or before an older one"


@dataclass(frozen=True)
class ArchivingOptions(options.CoreOptions):
    """The model options that affect archiving, with their supported values."""

    completion_time: Literal["under_lock"] = "under_lock"
    listing: Literal["twice"] = "twice"
    read_time: Literal["settled"] = "settled"
    archive_bound: Literal["pending", "none"] = "pending"
    archive_lookup: Literal["after_listing", "before_listing", "never"] = "after_listing"


class ArchivingLemmas(core.Core):
    """The core transition relation, extended by archivers."""

    options: ArchivingOptions

    @property
    def first(self) -> bool:
        """True if readers read the archive before they list the active timeline."""
        return self.options.archive_lookup == "before_listing"

    def relations(self) -> tuple[Relation, ...]:
        return (*super().relations(), *TIMELINES, *(OPENED_FIRST if self.first else ()))

    def initially(self, s: Any) -> Term:
        return both(
            super().initially(s),
            s.every(WRITE, lambda w: both(no(s.archived(w)), no(s.removed(w)))),
            s.every(PLAN, lambda p: both(no(s.archived_plan(p)), no(s.removed_plan(p)))),
            not self.first or s.every(READER, lambda d: no(s.opened(d))),
        )  # fmt: skip

    def is_listed(self, s: Any, kind: Instants, x: Term) -> Term:
        removed = s.removed if kind is WRITES else s.removed_plan
        return both(super().is_listed(s, kind, x), no(removed(x)))

    # Readers that never read the archive find no write, and no base file, of an instant that left the active timeline.

    def is_there(self, s: Any, log: Term) -> Term:
        return no(s.removed(s.write_of(log))) if self.options.archive_lookup == "never" else True

    def readable(self, s: Any, q: Term, g: Term, t: Term) -> Term:
        read = super().readable(s, q, g, t)
        return both(read, no(s.removed_plan(q))) if self.options.archive_lookup == "never" else read

    def delivered(self, s: Any, w: Term, after: Term, until: Term) -> Term:
        window = super().delivered(s, w, after, until)
        return both(window, no(s.removed(w))) if self.options.archive_lookup == "never" else window

    def actions(self) -> tuple[Move, ...]:
        archives = Move(
            "archiver archives instants", (SetParameter((WRITE,)), SetParameter((PLAN,))), self.may_archive,
            lambda s, writes, plans: {
                "archived": lambda w: either(s.archived(w), writes(w)),
                "archived_plan": lambda p: either(s.archived_plan(p), plans(p)),
            },
        )  # fmt: skip
        removes = Move(
            "archiver removes write", (WRITE,),
            lambda s, w: both(s.archived(w), older_are_removed(s, s.requested(w))),
            lambda s, w: {"removed": at(s.removed, w, to=True)}, ("archiver_removes_instant",),
        )  # fmt: skip
        removes_plan = Move(
            "archiver removes compaction", (PLAN,),
            lambda s, p: both(s.archived_plan(p), older_are_removed(s, s.barrier(p))),
            lambda s, p: {"removed_plan": at(s.removed_plan, p, to=True)}, ("archiver_removes_instant",),
        )  # fmt: skip
        return (*super().actions(), archives, removes, removes_plan)

    def may_archive(self, s: Any, writes: Any, plans: Any) -> Term:
        """True if the given instants may be archived. Every completed instant with an earlier requested time must be
        archived already, or be one of the given instants. The lock must be free, and no other archiving may be in
        progress.
        """

        def goes(requested: Term, completed: Term) -> Term:
            taken_with_older = both(
                s.every(WRITE, lambda v: implies(
                    both(published(s, v), s.requested(v) < requested), either(s.archived(v), writes(v)))),
                s.every(PLAN, lambda q: implies(
                    both(s.done(q), s.barrier(q) < requested), either(s.archived_plan(q), plans(q)))),
            )  # fmt: skip
            if self.options.archive_bound == "none":
                return taken_with_older
            return both(taken_with_older, before_pending(s, requested, completed))

        return both(
            self.lock_is_free(s),
            s.every(WRITE, lambda w: implies(s.archived(w), s.removed(w))),
            s.every(PLAN, lambda p: implies(s.archived_plan(p), s.removed_plan(p))),
            s.every(WRITE, lambda w: implies(writes(w), both(
                published(s, w), no(s.archived(w)), goes(s.requested(w), s.completed(w))))),
            s.every(PLAN, lambda p: implies(plans(p), both(
                s.done(p), no(s.archived_plan(p)), goes(s.barrier(p), s.compacted(p))))),
        )  # fmt: skip

    def readers(self) -> tuple[Move, ...]:
        """Return the actions of readers that read the archive before or after each listing, according to
        `archive_lookup`.
        """
        actions = {action.name: action for action in super().readers()}
        if self.options.archive_lookup == "never":
            return tuple(actions.values())
        if self.first:
            start, again = actions["reader starts listing"], actions["reader ends listing again"]
            actions[start.name] = start.extend(lambda s, d: s.opened(d))
            actions[again.name] = replace(again, updates=self.keeps_found)
            return (*actions.values(), self.opens())
        again = actions["reader starts listing again"]
        actions[again.name] = replace(again, guard=lambda s, d: s.reading(d) == OPENED)
        last = actions["reader ends listing again"]
        actions[last.name] = last.extend(None, lambda s, d, *_: {"reading": at(s.reading, d, to=HELD)})
        return (*actions.values(), *self.looks())

    def opens(self) -> Move:
        return Move(
            "reader opens archive", (READER,), lambda s, d: both(s.reading(d) == 0, no(s.opened(d))),
            lambda s, d: {
                "opened": at(s.opened, d, to=True),
                "found": lambda r, w: choose(r == d, s.archived(w), s.found(r, w)),
                "found_plan": lambda r, p: choose(r == d, s.archived_plan(p), s.found_plan(r, p)),
            },
        )  # fmt: skip

    def keeps_found(self, s: Any, d: Term, *seen: Term) -> Mapping[str, Update]:
        write, plan = self.shown(s, d, seen)
        t = s.reads_at(d)
        return {
            **self.forget(s, d),
            "kept_write": lambda r, w: choose(
                r == d, both(either(write(w), s.found(d, w)), s.completed(w) <= t), s.kept_write(r, w)),
            "kept_plan": lambda r, p: choose(
                r == d, both(either(plan(p), s.found_plan(d, p)), s.compacted(p) <= t), s.kept_plan(r, p)),
            "reading": at(s.reading, d, to=SURE),
        }  # fmt: skip

    def looks(self) -> tuple[Move, ...]:
        """Return the actions by which a reader reads the archive.

        After the first listing, the reader raises its read time to the newest archived completion time if this time is
        later. After the second listing, the reader also uses the archived instants that completed at or before its read
        time.
        """
        return (
            Move(
                "reader looks into archive", (READER, "time"),
                lambda s, d, t: both(s.reading(d) == LISTED, is_greatest(
                    s, self.kinds, (s.archived, s.archived_plan), t)),
                lambda s, d, t: {
                    "reads_at": at(s.reads_at, d, to=choose(t > s.reads_at(d), t, s.reads_at(d))),
                    "reading": at(s.reading, d, to=OPENED),
                },
            ),
            Move(
                "reader keeps what is archived", (READER,), lambda s, d: s.reading(d) == HELD,
                lambda s, d: {
                    "kept_write": lambda r, w: either(s.kept_write(r, w), both(
                        r == d, s.archived(w), s.completed(w) <= s.reads_at(d))),
                    "kept_plan": lambda r, p: either(s.kept_plan(r, p), both(
                        r == d, s.archived_plan(p), s.compacted(p) <= s.reads_at(d))),
                    "reading": at(s.reading, d, to=SURE),
                },
                ("reader_looks_into_archive",),
            ),
        )  # fmt: skip

    def covers(self, s: Any, d: Term, w: Term) -> Term:
        """True if the write completed at or before the read time, or is archived and the reader will look there."""
        listed = super().covers(s, d, w)
        return either(listed, s.archived(w)) if self.options.archive_lookup == "after_listing" else listed

    def keeps_time(self, s: Any, n: Any, d: Term) -> Term:
        """True if a step leaves the read time unchanged, or raises it when the reader reads the archive after its first
        listing.
        """
        raised = s.every(WRITE, lambda w: implies(s.archived(w), s.completed(w) <= n.reads_at(d)))
        looks = both(s.reading(d) == LISTED, n.reading(d) == OPENED)
        return choose(looks, both(raised, n.reads_at(d) >= s.reads_at(d)), n.reads_at(d) == s.reads_at(d))

    def clauses(self) -> dict[str, Formula]:
        return super().clauses() | {
            "only completed instants are archived, and only archived ones are removed": lambda s: both(
                s.every(WRITE, lambda w: both(
                    implies(s.archived(w), published(s, w)), implies(s.removed(w), s.archived(w)))),
                s.every(PLAN, lambda p: both(
                    implies(s.archived_plan(p), s.done(p)), implies(s.removed_plan(p), s.archived_plan(p))))),
            "a reader holds what completed up to its time and is not archived": lambda s: both(
                s.every(READER, WRITE, lambda d, w: implies(s.reading(d) == HELD, both(
                    implies(s.kept_write(d, w), both(published(s, w), s.completed(w) <= s.reads_at(d))),
                    implies(both(published(s, w), s.completed(w) <= s.reads_at(d), no(s.archived(w))),
                            s.kept_write(d, w))))),
                s.every(READER, PLAN, lambda d, p: implies(s.reading(d) == HELD, both(
                    implies(s.kept_plan(d, p), both(s.done(p), s.compacted(p) <= s.reads_at(d))),
                    implies(both(s.done(p), s.compacted(p) <= s.reads_at(d), no(s.archived_plan(p))),
                            s.kept_plan(d, p)))))),
            BOUND: lambda s: both(
                s.every(WRITE, lambda w: implies(s.archived(w), both(
                    before_pending(s, s.requested(w), s.completed(w)), with_older(s, s.requested(w))))),
                s.every(PLAN, lambda p: implies(s.archived_plan(p), both(
                    before_pending(s, s.barrier(p), s.compacted(p)), with_older(s, s.barrier(p))))),
            ),
            "instants are removed oldest first": lambda s: both(
                s.every(WRITE, lambda w: implies(s.removed(w), older_are_removed(s, s.requested(w)))),
                s.every(PLAN, lambda p: implies(s.removed_plan(p), older_are_removed(s, s.barrier(p))))),
        }  # fmt: skip

    def common(self) -> frozenset[str]:
        """Return the clauses on which the proofs about reads rely."""
        return frozenset(self.clauses()) - {BOUND, "instants are removed oldest first"}

    def claims(self) -> tuple[Claim, ...]:
        return (
            *super().claims(),
            Claim("ARCH", "each completed instant is active or archived, and readers find it; no pending instant is "
                  "older than an archived one; the oldest leave first", self.is_found),
        )  # fmt: skip

    def is_found(self, s: Any) -> Term:
        return both(
            s.every(WRITE, lambda w: implies(
                published(s, w), either(both(self.is_listed(s, WRITES, w), no(s.removed(w))), s.archived(w)))),
            s.every(PLAN, lambda p: implies(
                s.done(p), either(both(self.is_listed(s, PLANS, p), no(s.removed_plan(p))), s.archived_plan(p)))),
            s.every(WRITE, lambda w: implies(s.removed(w), both(
                before_pending(s, s.requested(w), s.completed(w)),
                s.every(WRITE, lambda v: implies(
                    both(published(s, v), s.requested(v) < s.requested(w)), s.removed(v)))))),
            s.every(READER, WRITE, lambda d, w: implies(
                both(s.reading(d) >= SURE, s.archived(w), s.completed(w) <= s.reads_at(d)), s.kept_write(d, w))),
        )  # fmt: skip


def before_pending(s: Any, requested: Term, completed: Term) -> Term:
    """True if both given times are earlier than the requested time of every pending instant."""
    return both(
        s.every(WRITE, lambda v: implies(both(s.phase(v) > IDLE, s.phase(v) < PUBLISHED), both(
            requested < s.requested(v), completed < s.requested(v)))),
        s.every(PLAN, lambda q: implies(
            both(s.planned(q), no(s.done(q))), both(requested < s.barrier(q), completed < s.barrier(q)))),
    )  # fmt: skip


def with_older(s: Any, requested: Term) -> Term:
    """True if every completed instant that was requested before the time `requested` is archived."""
    return both(
        s.every(WRITE, lambda v: implies(both(published(s, v), s.requested(v) < requested), s.archived(v))),
        s.every(PLAN, lambda q: implies(both(s.done(q), s.barrier(q) < requested), s.archived_plan(q))),
    )


def older_are_removed(s: Any, requested: Term) -> Term:
    """True if every archived instant that was requested before the time `requested` is removed from the active
    timeline.
    """
    return both(
        s.every(WRITE, lambda v: implies(both(s.archived(v), s.requested(v) < requested), s.removed(v))),
        s.every(PLAN, lambda q: implies(both(s.archived_plan(q), s.barrier(q) < requested), s.removed_plan(q))),
    )
