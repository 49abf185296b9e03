"""RFC-66 alone: the protocol without any mechanism, in the order of the RFC's text.

    `clock`, `lock`: The table's clock and its lock. `timeline`, `table`: The completed and pending instants; the values
    on storage. `publication`: One lock covers the completion time and the publication of the instant. `writer`,
    `compactor`: The actors that publish deltacommits and compactions. `reader`: A reader lists the timeline twice.
    `slicing`, `planning`: The file slice of each log; the logs that a compaction plan takes. `merge`, `tombstones`: The
    merge of records by rank; the deletes that a compaction keeps. `reads`: Snapshots, time travel, read-optimised and
    incremental reads, change logs.
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
