"""The parts shared by commands on a table: the storage options, the table's storage, and errors of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import echo

_STORAGE_OPTIONS = "nbcc.storage_options"
_FUNCTION = "nbcc.merge.function"

if TYPE_CHECKING:
    from nbcc.engine.audit import CountingStorage


def _remember_options(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    options = {}
    for number, value in enumerate(values, start=1):
        name, separator, text = value.partition("=")
        if not name or not separator:
            raise click.BadParameter(f"number {number} is not of the form KEY=VALUE", ctx, param)  # it may be a secret
        options[name] = text
    ctx.meta[_STORAGE_OPTIONS] = options


storage_option = click.option(
    "--storage-option", multiple=True, expose_value=False, metavar="KEY=VALUE", callback=_remember_options,
    help="An option of the store of TABLE, e.g. region=eu-central-1 (docs/options.md); may be repeated.",
)  # fmt: skip


def storage_options() -> dict[str, str]:
    """Return the storage options given to the running command."""
    context = click.get_current_context(silent=True)
    options: dict[str, str] = context.meta.get(_STORAGE_OPTIONS, {}) if context else {}
    return options


def _remember_function(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    ctx.meta[_FUNCTION] = value or ""


merge_function_option = click.option(
    "--merge-function", expose_value=False, metavar="MODULE:FUNCTION", callback=_remember_function,
    help="Import and call this merge function, which TABLE names and you trust.",
)  # fmt: skip


def opening_options() -> dict[str, str]:
    """Return the options of `Table.open` given to the running command."""
    function = merge_function()
    return {_FUNCTION: function} if function else {}


def merge_function() -> str:
    """Return the merge function that the running command may import; '' for none."""
    context = click.get_current_context(silent=True)
    function: str = context.meta.get(_FUNCTION, "") if context else ""
    return function


@contextmanager
def opened(table: str, verb: str, redact: bool = False) -> Iterator[CountingStorage]:
    """Yield the table's storage, which counts its requests. An error of the store library is raised as `CannotRun`. If
    `redact` is True, error messages omit the table's address.
    """
    from obstore.exceptions import BaseError

    from nbcc.engine.audit import CountingStorage
    from nbcc.engine.errors import CannotRun, NbccError, StorageError
    from nbcc.engine.storage import open_storage

    storage = CountingStorage(open_storage(table, storage_options()))
    hidden = {storage.url: "(redacted)", table: "(redacted)"} if redact else {}
    try:
        yield storage
    except BaseError as refused:
        message = type(refused).__name__ if redact else " ".join(str(refused).split()).partition(" Debug source:")[0]
        asked, exists = f"{verb} {table}", f"the store answered: {message}"
        remedy = "check the address and the credentials, in the environment or in --storage-option"
        raise CannotRun(*(_without(text, hidden) for text in (asked, exists, remedy))) from None
    except StorageError as refused:
        if redact:  # the text of the store may name it, too
            exists = f"the store answered: {type(refused.__cause__).__name__}"
            raise StorageError(f"{verb} (redacted)", exists, refused.remedy) from None
        raise
    except NbccError as error:
        raise type(error)(*(_without(text, hidden) for text in (error.asked, error.exists, error.remedy))) from None


def shown(page: Path | None) -> None:
    """Print to standard error the name of the file to which a page was written."""
    if page is not None:
        echo(f"page: {page}", err=True)


def _without(text: str, hidden: dict[str, str]) -> str:
    for secret, instead in hidden.items():
        text = text.replace(secret, instead)
    return text
