"""RFC-66 alone: the protocol without any mechanism, in the order of the RFC's text.

    `clock`, `lock`: one clock; the table's lock.
    `timeline`, `table`: completed and pending instants; the values on storage.
    `publication`: the completion time is taken under the lock, and the instant is published under the same lock.
    `writer`, `compactor`: the actors that publish deltacommits and compactions.
    `reader`: a reader lists the timeline twice.
    `slicing`, `planning`: to which file slice a log belongs; which logs a compaction plan takes.
    `merge`, `tombstones`: the merge of records by rank; a compaction keeps deletes.
    `reads`: snapshot, time travel, read-optimised and incremental reads, change logs.
"""

from __future__ import annotations

from ..machine.composition import Composition
from . import clock, compactor, lock, reader, timeline, writer


def compose(composition: Composition) -> None:
    """Add the components, views and transitions of the kernel."""
    composition.add_component("clock", 0)
    composition.add_component("lock", None)
    composition.map_view("holds_lock", lock.is_held_by)
    composition.map_view("request_time", clock.one_clock)
    composition.map_view("completion_time", clock.one_clock)
    timeline.compose(composition)
    for part in ACTORS.values():
        part.compose(composition)


ACTORS = {"compactor": compactor.MECHANISM, "reader": reader.MECHANISM, "writer": writer.MECHANISM}
