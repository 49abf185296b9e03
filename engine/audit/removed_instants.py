"""Finds instants whose timeline files were removed: other instants show that they completed, but no timeline has them.

The absence of an instant proves nothing: its write may have failed, or its timeline files may have been removed. Only
another instant can prove that it completed, because plans and log compactions take files of completed instants only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..file_names import in_partition, parse_base, parse_log, split_path
from .record import Audit


def removed_instants(audit: Audit) -> dict[str, str]:
    """Map the requested time of each instant whose completion was removed to a phrase that names the proof.

    An instant that a rollback or restore has undone is not in the result, and neither is one that an unreadable archive
    may contain.
    """
    # An instant in a file that cannot be read is not removed.
    unreadable = any(fault.kind in ("archive", "commit") for fault in audit.faults)
    first = audit.first_active or ""
    undone = {*audit.undone, *(requested for each in audit.rollbacks for requested in each.undone)}
    removed: dict[str, str] = {}
    for requested, proof in _proofs(audit):
        archived = requested < first and (unreadable or not audit.own)  # another engine's archive need not be complete
        if requested not in audit.completed and requested not in undone and not archived:
            removed.setdefault(requested, proof)
    return removed


def _proofs(audit: Audit) -> Iterator[tuple[str, str]]:
    for barrier, plan in sorted(audit.plans.items()):
        for each in plan.operations:
            base = parse_base(each.base_file) if each.base_file else None
            if base is not None:
                yield base.instant, f"the plan {barrier} starts from its base file"
            for name in each.logs:
                if (log := parse_log(name)) is not None:
                    yield log.instant, f"the plan {barrier} takes its log"
    for requested, commit in sorted(audit.commits.items()):
        names = (split_path(path)[1] for covered in commit.covers.values() for path in covered)
        yield from (
            (log.instant, f"the log compaction {requested} took its log") for n in names if (log := parse_log(n))
        )
    cleaned = {name: clean.instant.requested for clean in audit.cleans for name in clean.deleted}
    for instant in audit.timeline.pending_compactions if cleaned else ():
        for each in audit.plans[instant.requested].operations if instant.requested in audit.plans else ():
            taken = (*([each.base_file] if each.base_file else ()), *each.logs)
            gone = (n for n in taken if n in cleaned and in_partition(each.partition, n) not in audit.listing)
            yield from ((instant.requested, f"the clean {cleaned[name]} deleted its input {name}") for name in gone)
