"""`nbcc list`: the names that other commands take."""

from __future__ import annotations

import shutil
import textwrap

import click

from .command import answer, debug_option, json_option
from .names import KINDS
from .outcome import Exit


@click.command(short_help="The worlds, protocols, promises, actions, mutants, mechanisms and findings there are.")
@click.argument("kind", type=click.Choice([*KINDS]))
@json_option
@debug_option
def command(kind: str, as_json: bool) -> Exit:
    """List what there is of a KIND, one name a line with what it stands for.

    \b
      worlds      bounded tables and actors that `explore` and `check` take
      protocols   settings: the default keeps every promise, each other one names its source
      promises    what a reader, a writer or a service is promised
      actions     the steps of the model, found in nbcc/model/kernel and mechanisms
      mutants     broken variants that `check` or a search must catch
      mechanisms  what of Hudi is here: the model's actions, the engine's steps, what shows them
      findings    what Apache Hudi does against a promise, with the run or the test that shows it

    \b
    Examples:
      nbcc list worlds
      nbcc list promises --json
    """
    rows = KINDS[kind]()
    if as_json:
        answer({kind: [{"name": name, "about": about} for name, about in rows]})
        return Exit.AGREES
    width = max((len(name) for name, _ in rows), default=0)
    room = max(40, shutil.get_terminal_size((110, 24)).columns - width - 2)
    for name, about in rows:
        first, *more = textwrap.wrap(about, room) or [""]
        click.echo(f"{name:{width}}  {first}".rstrip())
        for line in more:
            click.echo(" " * (width + 2) + line)
    return Exit.AGREES
