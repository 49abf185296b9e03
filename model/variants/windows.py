"""Other readings of incremental queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows(Options):
    """Other readings of incremental queries."""

    incremental_axis: Literal["completion", "requested"] = choice(
        "completion",
        "the time by which an incremental window keeps writes",
    )
    window_merge: Literal[
        "logs", "slice_of_window", "slice_of_table", "slice_of_files", "slice_of_files_from"
    ] = choice(
        "logs",
        "what a window merges: its logs; the newest slice that its instants' files make up, base files of its "
        "compactions included; or the table's newest slice that begins within it; slice_of_files: the newest "
        "that the files completed in it make up, base files alone as barriers; _from: and rows of writes that "
        "completed as it starts come out again (RFC-66, incremental queries)",
    )
    window_deletes: Literal["marked", "omitted"] = choice(
        "marked",
        "whether a window shows the deletes that win in it",
    )


MECHANISM = Mechanism(options=Windows)
