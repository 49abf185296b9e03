"""`nbcc table TABLE …`: commands that work on one table. Each module of this package that defines `command` is one of
the sub-commands.
"""

from __future__ import annotations

import importlib
from pkgutil import iter_modules

import click

from ..command import Commands, debug_option
from .options import remember


class _TableCommands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            module.name.replace("_", "-")
            for module in iter_modules(__path__)
            if hasattr(importlib.import_module(f"{__name__}.{module.name}"), "command")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return command


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
