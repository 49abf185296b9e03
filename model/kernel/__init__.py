"""The kernel models RFC-66 alone, without any mechanism.

`clock` and `lock` model the table's clock and the table's lock.
`timeline` and `table` model the completed and pending instants, and the writes and plans in storage.
`publication` models how an actor takes a completion time and publishes an instant under one lock.
`writer`, `compactor` and `reader` model the actors.
`slicing` defines the file slice to which each log file belongs. `planning` defines the input files of a compaction
plan. `merge` and `tombstones` define the row of a key and the deletes that a compaction retains. `reads` defines
snapshots, time travel, read-optimised and incremental reads, and change logs.
"""

from __future__ import annotations

from ..machine.composition import Composition
from . import clock, compactor, lock, reader, timeline, writer


def compose(composition: Composition) -> None:
    """Add the components (state variables), views and transitions of the kernel to a model."""
    composition.add_component("clock", 0)
    composition.add_component("lock", None)
    composition.map_view("holds_lock", lock.is_held_by)
    composition.map_view("request_time", clock.one_clock)
    composition.map_view("completion_time", clock.one_clock)
    timeline.compose(composition)
    for part in (compactor, reader, writer):
        part.compose(composition)
