"""What the commands of `nbcc table` share: options, the opened table, the dry run, the report, and the table's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import click

from ..command import answer, debug_option, echo, json_option
from ..outcome import Exit
from ..progress import Progress, on_stderr
from ..tables import opened, opening_options, storage_option, storage_options

if TYPE_CHECKING:
    from nbcc.engine import Instant, Table
    from nbcc.engine.audit import Audit
    from nbcc.engine.data.jobs import Jobs
    from nbcc.engine.names import Names
    from nbcc.engine.storage import Storage
    from nbcc.engine.storage.recording import Recording


_KEY = "nbcc.table"


def remember(ctx: click.Context, table: str) -> None:
    """Store the table's path or URL in the click context, where the sub-command finds it."""
    ctx.meta[_KEY] = table


def reads_table(function: Callable[..., Exit]) -> Callable[..., Exit]:
    """Add --storage-option, --json and --debug to a command, and pass the table as its first argument."""

    def with_table(**options: Any) -> Exit:
        return function(click.get_current_context().meta[_KEY], **options)

    return json_option(debug_option(storage_option(update_wrapper(with_table, function))))


def changes_table(function: Callable[..., Exit]) -> Callable[..., Exit]:
    """Add --dry-run and the options of `reads_table` to a command."""
    return click.option("--dry-run", is_flag=True, help="Only report what would be done.")(reads_table(function))


def audit_of(storage: Storage) -> Audit:
    """Return the audit (a listing and the decoded timeline) of the table, with a progress bar on standard error."""
    from nbcc.engine.audit import gather

    with on_stderr() as progress:
        return gather(storage, progress)


def quarantining(storage: Storage) -> Storage:
    """Return the storage of a repair, which moves what it removes into the quarantine."""
    from nbcc.engine.repair.quarantine import QuarantiningStorage

    return QuarantiningStorage(storage, now())


def now() -> str:
    """Return the current time as a timestamp."""
    from datetime import UTC, datetime

    from nbcc.engine.clock import to_instant

    return to_instant(int(datetime.now(UTC).timestamp() * 1000))


def foreseen(storage: Storage, asked: str, repair: Callable[[Storage], object], retimes: bool = False) -> None:
    """Plan a repair in memory, and print to standard error what reads need before and after. Raises `Conflict` if a
    read would lose a file.
    """
    from nbcc.engine.repair.foresight import foresee

    echo(foresee(storage, asked, repair, retimes).text, err=True)


def refuse_foreign(storage: Storage) -> None:
    """Raise `Unsupported`, as every write does, if nbcc may not write the table."""
    from nbcc.engine.definition.load import open_table

    open_table(storage).check_writable()


@contextmanager
def locked(storage: Storage, *, is_proved: bool = False) -> Iterator[None]:
    """Hold the table's lock during a `with` block. An nbcc table's hoodie.properties specify the lock that its writers
    use.

    If its writers take none (``nbcc.decision=free``), `Unsupported` is raised. A repair that is proved right by what no
    writer changes (`is_proved`) then needs no lock.
    """
    from dataclasses import replace

    import pyarrow as pa

    from nbcc.engine.config.coordination import is_shared
    from nbcc.engine.config.table_properties import from_properties
    from nbcc.engine.definition.load import load_properties
    from nbcc.engine.errors import Unsupported
    from nbcc.engine.lock import held
    from nbcc.engine.lock.providers import lock_of

    config = from_properties(load_properties(storage), pa.schema([]))
    config = replace(config, shared_store=is_shared(storage.url))
    if config.weakness is not None:
        raise Unsupported(f"lock the table {config.name}", *config.weakness)
    if is_proved and config.coordination.decision == "free":
        yield
        return
    with held(lock_of(storage, config.coordination)):
        yield


def done(verb: str, paths: list[str], dry_run: bool) -> None:
    """Print one line for each file that was changed, or that would be changed in a dry run."""
    for path in paths:
        echo(f"{'would ' if dry_run else ''}{verb} {path}")


master_option = click.option(
    "--spark", "master", metavar="MASTER",
    help="Do the data work on this Spark master, e.g. 'local[4]'.  [default: this process, one file group at a time]",
)  # fmt: skip


@dataclass(slots=True)
class OpenedService:
    """A table opened for a service, whose storage records every change. In a dry run, the service runs to its end, but
    nothing is written to the table.

    `ran` contains the instants that the command completed, or would complete in a dry run. `quarantine` is True if
    deleted files are moved into the quarantine. `expected` is the number of
    files that the service will delete, for the progress bar.
    """

    table: Table
    storage: Recording
    dry_run: bool
    quarantine: bool = False
    ran: list[Instant] = field(default_factory=list)
    expected: int = 0

    @property
    def deleted(self) -> list[str]:
        """The paths of the data files that the service deleted, or would delete in a dry run."""
        return [path for path in self.storage.deleted if not path.startswith(".hoodie/")]

    def size_of(self, paths: Iterable[str]) -> int:
        """Return the total size in bytes of the existing objects among `paths`."""
        wanted = {*paths}
        folders = {path.rpartition("/")[0] for path in wanted}
        return sum(entry.size for folder in folders for entry in self.storage.list(folder) if entry.path in wanted)


@contextmanager
def service(
    path: str, verb: str, dry_run: bool, master: str | None = None, *, quarantine: bool = False
) -> Iterator[OpenedService]:
    """Open the table at `path` for a service. The data are processed by the cluster of the Spark master `master`, or by
    this process if `master` is None. If `quarantine` is True, the files that the service deletes are moved into the
    quarantine.

    A dry run takes no lock, so its report may be outdated when it is printed.
    """
    from nbcc.engine import Context, Table
    from nbcc.engine.clock import WallClock
    from nbcc.engine.config.opening import open_options
    from nbcc.engine.definition.load import open_table
    from nbcc.engine.lock import InProcessLock
    from nbcc.engine.lock.providers import UnresolvedLock
    from nbcc.engine.names import RandomNames
    from nbcc.engine.storage.recording import Recording
    from nbcc.engine.wiring import coordinated

    with opened(path, verb) as storage, on_stderr() as progress:
        inner = quarantining(storage) if quarantine else storage
        recording = Recording(inner, dry_run, lambda deleted: _show_deletion(work, progress, deleted))
        opening = open_options(opening_options())
        config = replace(open_table(recording), allowed_function=opening.function)
        opening.check(config)
        names = RandomNames()
        jobs = _jobs(recording, names, progress, master)
        context = coordinated(Context(recording, UnresolvedLock(), WallClock(), names, jobs), config)
        if dry_run:
            context = replace(context, lock=InProcessLock(storage.url))
        work = OpenedService(Table(context, config), recording, dry_run, quarantine)
        yield work


def say(work: OpenedService, lines: Sequence[str], as_json: bool, **more: Any) -> Exit:
    """Print the report of a service: a line for each deleted file, then the given `lines`. With --json, print one
    object instead: the completed instants, the deleted files, and the fields in `more`.
    """
    from nbcc.engine.timeline.instant import COLUMNS

    if as_json:
        instants = [dict(zip(COLUMNS, instant.row, strict=True)) for instant in work.ran]
        answer({"dry_run": work.dry_run, "instants": instants, "deleted": work.deleted, **more})
        return Exit.AGREES
    past, infinitive = ("quarantined", "quarantine") if work.quarantine else ("deleted", "delete")
    verb = f"would {infinitive}" if work.dry_run else past
    for path in work.deleted:
        echo(f"{verb} {path}")
    for line in lines:
        echo(line)
    if work.dry_run:
        echo("dry run: nothing was changed")
    return Exit.AGREES


def _jobs(storage: Storage, names: Names, progress: Progress, master: str | None) -> Jobs:
    if master is None:
        from nbcc.engine.data.jobs import WatchedJobs

        return WatchedJobs(storage, names, lambda done, of: progress("file groups", done, of))
    from nbcc.engine.spark.jobs import SparkJobs
    from nbcc.engine.spark.session import session
    from nbcc.engine.storage import open_storage

    return SparkJobs(session("nbcc table", master=master), open_storage(storage.url, storage_options()), names)


def _show_deletion(work: OpenedService, progress: Progress, path: str) -> None:
    if work.expected and not path.startswith(".hoodie/"):
        progress("files", len(work.deleted), work.expected)
