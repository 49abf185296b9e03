"""`nbcc why`: lists every record of a key, with the rule by which reads use or ignore the record, and the resulting
row.
"""

from __future__ import annotations

import click

from .command import answer, debug_option, echo, json_option
from .outcome import Exit
from .progress import on_stderr
from .tables import merge_function, merge_function_option, opened, storage_option


@click.command(short_help="Every file that holds a key, and the rule by which reads use it or not.")
@click.argument("table")
@click.argument("key")
@click.option("--partition", metavar="P", help="Only this partition, as its folder is named.")
@click.option("--as-of", "as_of", metavar="T", help="The answer at that completion time (17 digits).")
@merge_function_option
@storage_option
@json_option
@debug_option
def command(table: str, key: str, partition: str | None, as_of: str | None, as_json: bool) -> Exit:
    """Explain the row that reads return for KEY in TABLE: each file with KEY, its instant, its slice, and the rule.

    If nbcc wrote the table, the rules are those of nbcc's reads, otherwise those of Hudi's reads. Only rows of KEY are
    shown. A key of several fields has Hudi's form field1:value1,field2:value2. If a file that the answer may need is
    missing or cut, the command names the file and exits with code 2.

    \b
    Examples:
      nbcc why /data/trips k1
      nbcc why s3://lake/trips driver:7,trip:12 --partition day=2026-11-21
    """
    from nbcc.engine.audit import why
    from nbcc.engine.audit.why_text import render, to_mapping

    with opened(table, "read") as storage:
        with on_stderr() as progress:
            explanation = why(storage, key, partition, as_of, progress, merge_function())
        if as_json:
            answer(to_mapping(explanation))
        else:
            echo(*render(explanation).split("\n"))
        echo(storage.summary(), err=True)
    return Exit.AGREES
