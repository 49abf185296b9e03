"""`nbcc why`: every file that holds a key, kept or hidden, by which rule, and what the answer is."""

from __future__ import annotations

import click

from .command import answer, debug_option, json_option
from .outcome import Exit
from .tables import opened, storage_option


@click.command(short_help="Every file that holds a key: kept or hidden, by which rule.")
@click.argument("table")
@click.argument("key")
@click.option("--partition", metavar="P", help="Only this partition, spelled as in the table's folders.")
@click.option("--as-of", "as_of", metavar="T", help="The answer at that completion time (17 digits).")
@storage_option
@json_option
@debug_option
def command(table: str, key: str, partition: str | None, as_of: str | None, as_json: bool) -> Exit:
    """Say why KEY reads as it does in TABLE: each file that holds it, its instant, its slice, and the rule.

    A table of nbcc is judged by nbcc's rules, any other by Hudi's. Of the rows only those of KEY are shown. A key of
    several fields is spelled as Hudi spells it: field1:value1,field2:value2.

    \b
    Examples:
      nbcc why /data/trips k1
      nbcc why s3://lake/trips driver:7,trip:12 --partition day=2026-11-21
    """
    from nbcc.engine.audit import why
    from nbcc.engine.audit.why_text import render, to_mapping

    with opened(table, "look into") as storage:
        found = why(storage, key, partition, as_of)
        if as_json:
            answer(to_mapping(found))
        else:
            click.echo(render(found))
        click.echo(storage.says(), err=True)
    return Exit.AGREES
