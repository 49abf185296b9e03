"""RFC-66 alone: the protocol without any mechanism, in the order of the RFC's text.

    The modules `clock` and `lock` define the table's clock and the table's lock.
    The module `timeline` defines the completed and pending instants.
    The module `table` defines the values on storage.
    The module `publication` takes the completion time and publishes the instant under one lock.
    The modules `writer` and `compactor` define the actors that publish deltacommits and compactions.
    The module `reader` defines readers, which list the timeline twice.
    The module `slicing` decides the file slice of each log.
    The module `planning` decides which logs a compaction plan takes.
    The module `merge` merges records by rank.
    The module `tombstones` decides which deletes a compaction keeps.
    The module `reads` defines snapshots, time travel, read-optimised and incremental reads, and change logs.
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
