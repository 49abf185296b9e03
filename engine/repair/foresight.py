"""Plans a repair: carries it out in memory, and compares which files the reads of the table need before and after.

A repair may bring files back into reads. It is refused if a snapshot, or a read as of a retained time, would no longer
read a file that it reads now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

from ..audit import gather
from ..audit.record import Audit
from ..audit.table_snapshot import table_snapshot
from ..errors import Conflict, NbccError
from ..files.slices import to_read
from ..storage import Storage
from ..storage.recording import Recording

T = TypeVar("T")

SNAPSHOT: Final = ""
MOST_TIMES: Final = 50
"""The reads that are compared: a snapshot, and those as of the newest completion times."""


class Foresight(NamedTuple):
    """What reads need before and after a planned repair: the number of files of a snapshot, and the times compared."""

    before: int
    after: int
    times: int

    @property
    def text(self) -> str:
        times = f"and reads as of {self.times} times" if self.times else "and no time could be compared"
        return f"a snapshot reads {self.before} files before and {self.after} after; {times} lose none"


def foresee(storage: Storage, asked: str, repair: Callable[[Storage], T], retimes: bool = False) -> Foresight:
    """Carry `repair` out in memory, and return what it changes for readers. Raises `Conflict` if a read loses a file,
    and the errors of the repair itself. If the repair `retimes` an instant, reads as of old times may change.
    """
    before = _files_of_reads(gather(storage))
    planned = Recording(storage, dry_run=True)
    repair(planned)
    after = _files_of_reads(gather(planned))
    times = {SNAPSHOT} & before.keys() if retimes else before.keys() & after.keys()
    for time in sorted(times):
        if lost := sorted(before[time] - after[time]):
            read = f"a read as of {time}" if time else "a snapshot"
            exists = f"{read} would no longer read {lost[0]}" + (f" and {len(lost) - 1} more" if len(lost) > 1 else "")
            raise Conflict(asked, exists, "leave it, and compare the files with the source")
    of_snapshot = len(before.get(SNAPSHOT, ())), len(after.get(SNAPSHOT, ()))
    return Foresight(*of_snapshot, len(times - {SNAPSHOT}))


def _files_of_reads(audit: Audit) -> dict[str, frozenset[str]]:
    """Map each completion time, and '' for a snapshot, to the existing files that a read of that time needs."""
    return dict(_reads(audit))


def _reads(audit: Audit) -> Iterator[tuple[str, frozenset[str]]]:
    horizon = audit.horizon or ""
    times = sorted({i.completed for i in audit.timeline.completed if i.completed and i.completed >= horizon})
    for time in (SNAPSHOT, *times[-MOST_TIMES:]):
        try:
            pieces = to_read(table_snapshot(audit, time or None, "compare").slices, audit.rules)
        except NbccError:
            continue  # no reader answers it now
        files = (file for piece in pieces for file in (piece.base, *piece.tombstones, *piece.logs) if file)
        yield time, frozenset(file.path for file in files if file.path in audit.listing)
