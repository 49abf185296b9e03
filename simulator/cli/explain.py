"""`nbcc explain`: the meaning of a name, its source, and the smallest run that illustrates the name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import names
from .command import answer, debug_option, echo, json_option, module_option, traces_option, users_words
from .outcome import Exit

if TYPE_CHECKING:
    from nbcc.simulator.lockstep.explain import Explanation
    from nbcc.simulator.trace import Trace


@click.command(short_help="The meaning of a name, its source, and the smallest run that shows it.")
@click.argument("name", shell_complete=names.completes(*names.KINDS))
@traces_option
@module_option
@json_option
@debug_option
def command(name: str, traces: Path, as_json: bool) -> Exit:
    """Explain NAME: a word such as NBCC, a promise, an action, a protocol or one of its options, a world, a mechanism,
    a verdict, a diagnostic of `nbcc validate`, or an option of Apache Hudi (hoodie.*).

    The answer is a sentence, the source of the sentence, and the smallest run that illustrates NAME. The run is
    searched for in the smallest possible world, and saved as a trace for `nbcc replay`.

    \b
    Examples:
      nbcc explain SNAP
      nbcc explain slicing
      nbcc explain listed-file-missing
      nbcc explain hoodie.index.type
      nbcc explain requested-time-slicing
      nbcc explain writer_takes_completion_time
    """
    from nbcc.simulator.audit.explain import explain
    from nbcc.simulator.trace import save

    with users_words():
        found = [(each, each.run()) for each in explain(name)]
    if as_json:
        answer({"explanations": [_mapping(each, run) for each, run in found]})
    else:
        for number, (each, run) in enumerate(found):
            echo(*([""] if number else []), *_lines(each, run))
    for _, run in found:
        if run is not None:
            save(run, traces)
    return Exit.AGREES


def _lines(explanation: Explanation, run: Trace | None) -> Iterator[str]:
    from nbcc.engine.terminal import folded
    from nbcc.simulator.trace_text import render, screen_width

    about = [f"  {_sentence(explanation.about)}", f"  source: {explanation.source}"]
    about += [f"  see: {address}" for address in explanation.links]
    yield f"{explanation.name}  ({explanation.kind})"
    yield from folded([*about, *(f"  {line}" for line in explanation.more)])
    if run is not None:
        yield from ("", explanation.shows, "", *render(run, width=screen_width()).split("\n"))
    elif explanation.shows:
        yield from ("", f"{explanation.shows} none in the worlds searched.")


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    is_name = first == "nbcc" or first.endswith(":")  # the value of an option, in front of its meaning
    return (text if is_name else text[:1].upper() + text[1:]).rstrip(".") + "."


def _mapping(explanation: Explanation, run: Trace | None) -> dict[str, Any]:
    from nbcc.simulator.trace import document

    return {
        "name": explanation.name,
        "kind": explanation.kind,
        "about": explanation.about,
        "source": explanation.source,
        "links": list(explanation.links),
        "more": list(explanation.more),
        "shows": explanation.shows if run is not None else None,
        "run": None if run is None else document(run),
    }
