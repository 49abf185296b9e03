"""`nbcc doctor`: what this machine has, what nbcc needs, and how to install what is missing."""

from __future__ import annotations

import click

from .command import answer, debug_option, json_option
from .outcome import Exit


@click.command(short_help="What this machine has, what nbcc needs, how to install the rest.")
@json_option
@debug_option
def command(as_json: bool) -> Exit:
    """Check Python, Java, PySpark, SPARK_HOME and disk, the way the Spark session checks them before it starts.

    One line a check. Exit code 0 when the engine can run here, 4 when it cannot.

    \b
    Examples:
      nbcc doctor
      nbcc doctor --json
    """
    from nbcc.engine.spark.session import checks

    results = [*checks()]
    if as_json:
        answer({"checks": [{"name": r.name, "ok": r.ok, "message": r.message} for r in results]})
    else:
        width = max(len(r.name) for r in results)
        for r in results:
            click.echo(f"{'ok  ' if r.ok else 'FAIL'}  {r.name:{width}}  {r.message}")
    return Exit.AGREES if all(r.ok for r in results) else Exit.COULD_NOT_RUN
