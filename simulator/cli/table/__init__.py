"""`nbcc table TABLE …`: commands that work on one table. Each command that a module of this package defines is one of
the sub-commands.
"""

from __future__ import annotations

import importlib
from pkgutil import iter_modules

import click

from ..command import Commands, debug_option
from .shared import remember


class _TableCommands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _commands().get(cmd_name)


def _commands() -> dict[str, click.Command]:
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [each for module in modules for each in vars(module).values() if isinstance(each, click.Command)]
    return {str(command.name): command for command in found}


@click.group(cls=_TableCommands, short_help="Inspect one table, run its services, repair what validate reports.")
@click.argument("table")
@debug_option
@click.pass_context
def command(ctx: click.Context, table: str) -> None:
    """Inspect TABLE, run its services, repair it.

    TABLE is a path or a URL (s3://, gs://, abfs://; credentials from the environment or the --storage-option of a
    command). Spark and a JVM are needed only with --spark. With --dry-run, a command that changes the table only
    reports what it would do.

    \b
    Examples:
      nbcc table /data/trips stats
      nbcc table /data/trips compact --dry-run
      nbcc table /data/trips orphans --quarantine --dry-run
    """
    remember(ctx, table)
