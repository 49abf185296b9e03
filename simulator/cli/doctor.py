"""`nbcc doctor`: what this machine has, what nbcc needs, and how to install what is missing."""

from __future__ import annotations

import dataclasses

import click

from .command import answer, debug_option, json_option
from .outcome import Exit


@click.command(short_help="What this machine has, what nbcc needs, how to install the rest.")
@json_option
@debug_option
def command(as_json: bool) -> Exit:
    """Check Python, Java, PySpark, SPARK_HOME and disk, as the Spark session does before it starts.

    One line a check: found, needed, how to install it here. Exit code 0 when the engine can run on this machine,
    4 when it cannot. Everything that needs no Spark (explore, list, replay on the model) works all the same.

    \b
    Examples:
      nbcc doctor
      nbcc doctor --json
    """
    from nbcc.engine.spark.checks import checks

    findings = checks()
    if as_json:
        answer({"checks": [dataclasses.asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding}")
    return Exit.AGREES if all(finding.ok for finding in findings) else Exit.COULD_NOT_RUN
