"""`nbcc incident`: writes the scrubbed timeline of a table, or finds what led to one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .command import FileToWrite, answer, debug_option, echo, json_option
from .outcome import Exit
from .progress import on_stderr
from .tables import opened, storage_option

if TYPE_CHECKING:
    from nbcc.simulator.audit.incident_search import Evidence


@click.command(short_help="A scrubbed timeline to pass on; what led to one.")
@click.argument("table", metavar="TABLE|FILE.zip")
@click.option("--out", type=FileToWrite(), metavar="FILE.zip", help="Write the timeline of TABLE without its names.")
@click.option("--test", "test", type=FileToWrite(), metavar="FILE.py",
              help="Write the run of the first cause as a test for pytest, and its trace to FILE.json.")  # fmt: skip
@storage_option
@json_option
@debug_option
def command(table: str, out: Path | None, test: Path | None, as_json: bool) -> Exit:
    """With --out, write the timeline of TABLE to FILE.zip: times, actions, states, sizes, counts. Names of tables,
    partitions, files and columns are replaced by numbers or left out; no keys and no values of rows are read.

    With FILE.zip, print the possible causes of what the timeline shows, the most probable first, each with how it comes
    about. For each cause, small worlds of the model are searched for the shortest run that leaves the instants of the
    cause: under the protocol of the writers, then under weaker ones. The first run that is found is printed, and can
    be written as a test.

    Exit codes: 0 no fault is seen, 1 a cause is named, 2 not an incident.

    \b
    Examples:
      nbcc incident /data/trips --out trips.zip
      nbcc incident trips.zip --test test_trips.py
    """
    from nbcc.simulator.audit.incident import packed, reproducer, suspects, unpacked
    from nbcc.simulator.audit.incident_search import evidence_of_newest

    if out is not None:
        from nbcc.engine.audit import gather

        with opened(table, "read the timeline of") as storage, on_stderr() as progress:
            out.write_bytes(packed(gather(storage, progress)))
        if as_json:
            answer({"written": str(out)})
        else:
            echo(f"incident: {out}")
        return Exit.AGREES
    from nbcc.engine.clock import to_instant
    from nbcc.engine.terminal import folded
    from nbcc.simulator.trace import document, to_json
    from nbcc.simulator.trace_text import render, screen_width

    now = to_instant(int(datetime.now(UTC).timestamp() * 1000))
    audit = unpacked(Path(table))
    found = suspects(audit, now)
    run = next((run for suspect in found if (run := suspect.run) is not None), None)
    shown = run or next((run for suspect in found if (run := suspect.example) is not None), None)
    trace = None if test is None else test.with_suffix(".json")
    if test is not None and trace is not None and shown is not None:
        trace.write_text(to_json(shown), encoding="utf-8")
        test.write_text(reproducer(shown, trace), encoding="utf-8")
    if as_json:
        answer({"causes": [each.to_mapping() for each in found], "run": None if run is None else document(run)})
    elif not found:
        echo(*folded(["no fault is seen in this timeline", *_searches(evidence_of_newest(audit))]))
    else:
        for number, each in enumerate(found, start=1):
            places = f", {each.places} places" if each.places > 1 else ""
            echo(*folded([f"{number}. {each.name} ({each.gravity}{places}): {each.comes_about}",
                          f"   nbcc explain {each.name}", *_searches(each.evidence)]))  # fmt: skip
        if shown is not None:
            leaves = "leaves these instants" if run is not None else "the protocol of the first cause makes"
            again = f"nbcc incident {table} --test FILE.py" if trace is None else f"nbcc replay {trace}"
            echo("", f"The shortest run that {leaves}:", "", *render(shown, again, screen_width()).split("\n"))
    return Exit.VIOLATED if any(each.gravity == "BROKEN" for each in found) else Exit.AGREES


def _searches(evidence: Evidence | None) -> list[str]:
    """Return the results of the searches for one cause, a line each."""
    if evidence is None:
        return []
    return [f"   searched for {', '.join(evidence.instants)}", *(f"   {each.text}" for each in evidence.searches)]
