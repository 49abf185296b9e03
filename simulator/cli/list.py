"""`nbcc list`: lists the names that other commands accept."""

from __future__ import annotations

import shutil
import textwrap

import click

from .command import answer, debug_option, echo, json_option, module_option
from .names import KINDS
from .outcome import Exit


@click.command(short_help="Names: worlds, protocols, promises, actions, mutants, mechanisms, findings, words.")
@click.argument("kind", type=click.Choice([*KINDS]))
@module_option
@json_option
@debug_option
def command(kind: str, as_json: bool) -> Exit:
    """List the names of a KIND, one a line, with their meaning.

    \b
      worlds      small tables with their actors and limits, for `explore` and `check`
      protocols   rules of a table: the default keeps every promise; each other one names its source
      promises    properties that readers, writers and services rely on
      actions     the steps of the model
      mutants     broken variants of model and engine that `check` or a search must detect
      mechanisms  features of Hudi, with their actions in the model and their steps in the engine
      findings    cases in which Apache Hudi breaks a promise, with the run or test that shows it
      words       the glossary

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
        echo(f"{name:{width}}  {first}".rstrip())
        for line in more:
            echo(" " * (width + 2) + line)
    return Exit.AGREES
