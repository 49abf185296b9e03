"""RFC-66 alone: the protocol without any mechanism, in the order of the RFC's text.

    clock, lock, timeline    times, the table's lock, instants
    publication              how every actor completes an instant
    writer, compactor        who publishes: deltacommits, compactions
    reader                   how a reader finds a consistent set of instants
    slicing, planning        to which file slice a log belongs; what a compaction plan takes
    merge, reads             the merge of rows by rank; the four reads
"""

from __future__ import annotations

from ..machine.composition import Composition
from . import clock, compactor, lock, reader, timeline, writer


def compose(composition: Composition) -> None:
    """Add the components, the views and the transitions of the kernel."""
    composition.add_component("clock", 0)
    composition.add_component("lock", None)
    composition.map_view("holds_lock", lock.is_held_by)
    composition.map_view("request_time", clock.one_clock)
    composition.map_view("completion_time", clock.one_clock)
    timeline.compose(composition)
    for part in ACTORS.values():
        part.compose(composition)


ACTORS = {"compactor": compactor.MECHANISM, "reader": reader.MECHANISM, "writer": writer.MECHANISM}
