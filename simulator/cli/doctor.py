"""`nbcc doctor`: checks whether this machine meets nbcc's requirements, and prints how to install what is missing."""

from __future__ import annotations

import dataclasses

import click

from .command import answer, debug_option, echo, json_option
from .outcome import Exit


@click.command(short_help="Check that this machine has what nbcc needs.")
@json_option
@debug_option
def command(as_json: bool) -> Exit:
    """Check Python, Java, PySpark, SPARK_HOME and disk, as the Spark session does before it starts, and which optional
    parts of nbcc are installed.

    Each line shows what was found, what is needed, and how to install it on this machine. The exit code is 0 if the
    engine can run here, 4 if it cannot; a missing optional part does not change it. Commands without Spark (explore,
    list, replay on the model) work in any case.

    \b
    Examples:
      nbcc doctor
      nbcc doctor --json
    """
    from nbcc.engine.extras import EXTRAS, NEEDED_BY, install, missing_extras
    from nbcc.engine.spark.checks import checks

    findings, missing = checks(), missing_extras()
    if as_json:
        extras = {extra: missing.get(extra, []) for extra in dict.fromkeys(EXTRAS.values())}
        answer({"checks": [dataclasses.asdict(finding) for finding in findings], "missing": extras})
    else:
        for finding in findings:
            echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding}")
        for extra, modules in missing.items():
            echo(f"-     not installed: {', '.join(modules)}, for {NEEDED_BY[extra]}: {install(extra)}")
    return Exit.AGREES if all(finding.ok for finding in findings) else Exit.COULD_NOT_RUN
