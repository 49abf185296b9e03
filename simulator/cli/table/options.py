"""Helpers shared by the commands of `nbcc table`: their options, loading the table's files, and locking the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import click

from ..command import debug_option, echo, json_option
from ..outcome import Exit
from ..progress import on_stderr
from ..tables import storage_option

if TYPE_CHECKING:
    from nbcc.engine.audit import Audit
    from nbcc.engine.storage import Storage

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
