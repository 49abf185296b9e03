"""The transition relations for which promises are proved. Each module extends the core transition relation by the
actions, invariant clauses and promises of one mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, get_args, get_type_hints

from nbcc.model import Protocol
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.announcements.cut import CUTTER
from nbcc.model.mechanisms.announcements.mechanism import KINDS
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER

from ..system import ProvedSystem
from . import (
    archiving,
    batches,
    cleaning,
    core,
    decisions,
    free_commits,
    free_rollbacks,
    heartbeats,
    log_compaction,
    optimistic,
    options,
    ranks,
    replaces,
    resize_services,
    resizes,
    resizes_by_range,
)

UNDESCRIBED: Final[Mapping[str, str]] = {
    CLEANER.name: "nothing says that no entry decides a plan behind another one that was made from the same entry",
    RESTORER.name: "nothing says that what an entry restores stays undone, also if a stalled author puts it again",
    SAVEPOINTER.name: "nothing says that no entry restores what a savepoint pins",
    CUTTER.name: "nothing says that an entry under a number that was deleted decides nothing",
}
"""The kinds of actors of the model whose announcements, or cuts of the log, no relation describes, and what therefore
is not proved.
"""
DESCRIBED: Final = (WRITER.name, COMPACTOR.name, ROLLBACKER.name)
assert {*UNDESCRIBED} == {*KINDS, CUTTER.name} - {*DESCRIBED}, "every kind that announces has a phrase"
LACKS: Final = (
    *(f"{kind}s, of which the relations of commits without a lock have none: {gap}"
      for kind, gap in UNDESCRIBED.items()),
    "several compactors, of which these relations have one: nothing says that two plans share no log",
    "several rollbackers, of which these relations have one: none resumes the rollback of another",
)  # fmt: skip
"""What the model has and no relation of commits without a lock."""


@dataclass(frozen=True)
class Lemmas:
    """A lemma module: its supported options, the class that builds its transition relation, and the worlds that check
    it.

    In each world of `worlds`, the transition relation is compared with the model. If an obligation fails, the worlds in
    `search` are searched for a run that violates the promise.
    """

    name: str
    about: str
    options: type[options.CoreOptions]
    relation: type[core.Core]
    worlds: tuple[str, ...]
    search: tuple[str, ...]
    protocol: str = "default"
    """The protocol that these lemmas are about."""
    lacks: tuple[str, ...] = ()
    """What the model has under this protocol, and no lemma module about it describes: one phrase for each part."""

    def system(self, **values: Any) -> ProvedSystem:
        return self.relation(self.options(**values)).system()

    def described(self) -> dict[str, tuple[Any, ...]]:
        """Return the options of the model that the transition relation supports, with their supported values."""
        hints = get_type_hints(self.options)
        return {each.name: get_args(hints[each.name]) for each in fields(self.options) if each.name != "any_plan"}

    def under(self, protocol: Mapping[str, Any]) -> tuple[ProvedSystem | None, str]:
        """Return the transition relation under the options of a protocol. If an option's value is not supported, the
        result is None and the reason.
        """
        known = self.described()
        usual = Protocol().to_mapping()
        values = {name: protocol[name] for name in known}
        # An option that the relation does not have may weaken any promise, so that only its default is described.
        unknown = [f"{name} = {value}" for name, value in protocol.items()
                   if value not in known.get(name, (usual.get(name, value),))]  # fmt: skip
        if unknown:
            about = f", but protocol {self.protocol}" if self.protocol != "default" else ""
            return None, f"the relation does not describe {', '.join(unknown)}{about}"
        return self.system(**values), ""


LEMMAS: Final = (
    Lemmas("core", "writers, compactions, crashes, and readers that list twice", options.CoreOptions, core.Core,
           ("demo", "readers", "two_groups", "crash_resume", "core_small"), ("demo", "readers")),
    Lemmas("ranks", "merge by event time, with tombstones", ranks.MergingOptions, ranks.Ranks, ("demo", "core_small"),
           ("demo",)),
    Lemmas("commit_time", "merge by commit time, without tombstones", ranks.CommitTimeOptions, ranks.CommitTime,
           ("commit_time",), ("commit_time",)),
    Lemmas("batches", "batches that are sent again", batches.BatchOptions, batches.Batches, ("sent_again",),
           ("sent_again",)),
    Lemmas("heartbeats", "heartbeats, and rollbacks of failed writes",
           heartbeats.HeartbeatOptions, heartbeats.HeartbeatLemmas,
           ("failed_writer", "rollback_resumed"), ("failed_writer",)),
    Lemmas("optimistic", "optimistic writers next to non-blocking ones",
           optimistic.OptimisticOptions, optimistic.Optimistic,
           ("occ_beside_nbcc", "occ_two_groups"), ("occ_beside_nbcc", "occ_three_writes")),
    Lemmas("cleaning", "cleaning with a horizon", cleaning.CleaningOptions, cleaning.CleaningLemmas,
           ("cleaning_crash", "cleaning"), ("cleaning",)),
    Lemmas("archiving", "archiving, and readers of the archive", archiving.ArchivingOptions, archiving.ArchivingLemmas,
           ("archiving", "archiving_readers"), ("archiving_readers", "archiving")),
    Lemmas("log_compaction", "log compactions", log_compaction.LogCompactionOptions, log_compaction.LogCompactionLemmas,
           ("log_compaction", "log_compaction_crash"), ("log_compaction",)),
    Lemmas("replaces", "replacing writes", replaces.ReplaceOptions, replaces.Replaces, ("replaces",), ("replaces",)),
    Lemmas("resizes", "resizes by cut-over", resizes.ResizeOptions, resizes.ResizeLemmas,
           ("resized", "resized_compacted"), ("resized",)),
    Lemmas("resizes_rolled_back", "resizes, heartbeats, and rollbacks of failed writes",
           resize_services.RolledBackOptions, resize_services.RolledBackResizes, ("resized_rollback",), ("resized",)),
    Lemmas("resizes_cleaned", "resizes, and cleaning with a horizon", resize_services.CleanedOptions,
           resize_services.CleanedResizes, ("resized_cleaned",), ("resized",)),
    Lemmas("resizes_by_range", "resizes whose readers look for late logs by range", resizes_by_range.ByRangeOptions,
           resizes_by_range.ResizesByRange, ("resized", "resized_compacted"), ("resized",), "resize-by-range",
           ("cancelled resizes: the relation of resizes by range has none",
            *(f"{kind.name}s: the relation of resizes by range has none" for kind in (ROLLBACKER, CLEANER)))),
    Lemmas("decisions", "a decision log, and locks that are lost", decisions.DecidedPlanOptions, decisions.Decisions,
           ("lost_lock",), ("lost_lock",), "decision-log"),
    Lemmas("free_commits", "announced commits, which entries decide together without a lock", free_commits.FreeOptions,
           free_commits.FreeCommits, ("demo",), ("demo",), "free-commits",
           LACKS),
    Lemmas("free_rollbacks", "announced commits and rollbacks, which exclude each other", free_commits.FreeOptions,
           free_rollbacks.FreeRollbacks, ("demo",), ("free_rollback",), "free-commits",
           LACKS),
)  # fmt: skip
