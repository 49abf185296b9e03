"""What the commands on a table share: the table they were given, the evidence of it, its lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

from ..progress import on_stderr
from ..tables import storage_option

if TYPE_CHECKING:
    from nbcc.engine.audit import Audit
    from nbcc.engine.storage import Storage

Options = ParamSpec("Options")
Answer = TypeVar("Answer")
_KEY = "nbcc.table"

dry_run_option = click.option("--dry-run", is_flag=True, help="Only say what would be done.")


def remember(ctx: click.Context, table: str) -> None:
    """Keep the table for the command that follows."""
    ctx.meta[_KEY] = table


def pass_table(function: Callable[Concatenate[str, Options], Answer]) -> Callable[Options, Answer]:
    """Give a command the table, as its first argument, and --storage-option."""

    def with_table(*args: Options.args, **kwargs: Options.kwargs) -> Answer:
        return function(click.get_current_context().meta[_KEY], *args, **kwargs)

    return storage_option(update_wrapper(with_table, function))


def audit_of(storage: Storage) -> Audit:
    """All that the table says of itself."""
    from nbcc.engine.audit import gather

    with on_stderr() as progress:
        return gather(storage, progress)


@contextmanager
def locked(storage: Storage) -> Iterator[None]:
    """The lock that the table's own writers take: the one that its properties name, if it is of nbcc."""
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
    with held(lock_of(storage, config.coordination)):
        yield


def done(verb: str, paths: list[str], dry_run: bool) -> None:
    """Say what was done, or would be: a line a file."""
    for path in paths:
        click.echo(f"{'would ' if dry_run else ''}{verb} {path}")
