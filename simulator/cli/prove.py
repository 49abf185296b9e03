"""`nbcc prove`: proves promises for any number of actors, by an inductive invariant."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import names
from .command import FileToWrite, Teaching, answer, debug_option, echo, json_option, users_words
from .outcome import Exit

if TYPE_CHECKING:
    from nbcc.simulator.search.prove.proof import LemmaVerdict, Proof

# What a proof leaves out is undetermined: PROVED IN PART must not look like PROVED.
EXITS = {"PROVED": Exit.AGREES, "PROVED IN PART": Exit.UNDETERMINED, "FAILED": Exit.VIOLATED,
         "UNDETERMINED": Exit.UNDETERMINED}  # fmt: skip


@click.command(cls=Teaching, sections=names.sections("protocols"),
               short_help="Promises proved for any number of actors.")  # fmt: skip
@click.option("--protocol", default="default", show_default=True, shell_complete=names.completes("protocols"),
              help="Name or .toml file of a protocol.")  # fmt: skip
@click.option("--promise", "promises", multiple=True, metavar="NAME", help="Only this promise; may be repeated.")
@click.option("--svg", type=FileToWrite(), metavar="FILE", help="Draw the first counterexample into this file.")
@json_option
@debug_option
def command(*, protocol: str, promises: tuple[str, ...], svg: Path | None, as_json: bool) -> Exit:
    """Prove promises for any number of writers, plans, compactors and readers.

    A search covers one small world. A proof needs no bound: an invariant holds initially, every step preserves the
    invariant, and the invariant implies the promise. The solver z3 checks each of these proof obligations. A failed
    obligation has a counterexample to induction: a state that satisfies the invariant, and a step to a state that
    violates it.

    PROVED IN PART: the formula that is proved says less than the promise, or was not seen to say as much. The missing
    parts are printed. Exit code 0: every promise is PROVED; 1: one is FAILED; 3: one is UNDETERMINED or PROVED IN PART.

    \b
    Examples:
      nbcc prove
      nbcc prove --promise SNAP
      nbcc prove --protocol requested-time-slicing
    """
    from rich.console import Console

    from nbcc.simulator.search.prove.proof import prove
    from nbcc.simulator.specs import protocol as resolve

    with users_words():
        options = resolve(protocol)
        _known(promises)
    with Console(stderr=True).status("proving; all promises take some minutes") as status:
        proof = prove(
            protocol,
            options,
            promises,
            lambda lemmas, result: status.update(f"{lemmas.name}: {result.obligation.name}"),
        )
    if svg is not None:
        _draw(proof, svg)
    if as_json:
        answer(document(proof))
    else:
        for line in report(proof):
            echo(line)
    return EXITS[proof.answer]


def _draw(proof: Proof, path: Path) -> None:
    from nbcc.simulator.view.proof import picture

    failed = ((part.system, result) for part in proof.parts for result in part.open() if result.answer == "FAILED")
    system, result = next(failed, (None, None))
    if system is None or result is None:
        echo(f"no obligation fails, so {path} is not written", err=True)
        return
    path.write_text(picture(system, result), encoding="utf-8")
    echo(f"{result.obligation.name}: drawn in {path}", err=True)


def _known(promises: tuple[str, ...]) -> None:
    from nbcc.simulator.search.prove.lemmas import LEMMAS

    provable = {claim.promise for lemmas in LEMMAS for claim in lemmas.system().claims}
    for name in promises:
        if name not in provable:
            raise ValueError(f"no lemmas imply {name!r}: choose among {', '.join(sorted(provable))}")


def report(proof: Proof) -> Iterator[str]:
    """Yield the lines of a report: one for each promise, one for each module of lemmas, and the obligations that were
    not proved.
    """
    for name, verdict in proof.promises.items():
        yield f"{verdict.answer:14}  {name:8}  {', '.join(verdict.deciding)}"
        for gap in verdict.missing:
            yield from textwrap.wrap(gap, 80, initial_indent="  missing: ", subsequent_indent=" " * 11)
    for part in proof.parts:
        yield _line(part)
    shown: set[str] = set()
    for part in proof.parts:
        yield from _open(part, proof.protocol, shown)


def _line(part: LemmaVerdict) -> str:
    if part.reason:
        return f"{part.lemmas.name}: {part.reason}"
    return (
        f"{part.lemmas.name}: {part.clauses} clauses, {len(part.results)} obligations, {part.seconds:.1f} s"
        f"; {part.lemmas.about}{'' if part.lemmas.worlds else '; not compared with the model'}"
    )


def _open(part: LemmaVerdict, protocol: str, shown: set[str]) -> Iterator[str]:
    from nbcc.simulator.search.prove.words import facts

    explained = False
    for result in part.open():
        name = result.obligation.name
        yield f"{result.answer}  {part.lemmas.name}: {name}{' (as above)' if name in shown else ''}"
        if result.answer == "FAILED" and not explained and name not in shown:
            explained = True
            yield "  a state that satisfies the invariant, from which this obligation fails:"
            yield from (f"    {fact}" for fact in facts(part.system, result))
    shown |= {result.obligation.name for result in part.open()}
    if part.searched:
        yield from _reached(part, protocol)


def _reached(part: LemmaVerdict, protocol: str) -> Iterator[str]:
    if not part.runs:
        worlds = ", ".join(part.lemmas.search)
        yield f"  no reachable run in {worlds} breaks a promise: the invariant may be too weak"
        return
    run = part.runs[0]
    yield f"  a reachable run breaks {run.promise} in {run.steps} steps: {run.because}"
    yield f"    nbcc explore {run.world} --protocol {protocol} --promise {run.promise}"


def document(proof: Proof) -> dict[str, Any]:
    """Return the proof's result as a JSON document."""
    return {
        "protocol": proof.protocol,
        "verdict": proof.answer,
        "promises": {
            name: {"verdict": v.answer, "lemmas": v.lemmas, "missing": [*v.missing]}
            for name, v in proof.promises.items()
        },
        "lemmas": {
            part.lemmas.name: {
                "clauses": part.clauses,
                "obligations": len(part.results),
                "seconds": round(part.seconds, 2),
                "open": [{"obligation": r.obligation.name, "answer": r.answer} for r in part.open()],
                "reason": part.reason,
                "reachable_runs": [run._asdict() for run in part.runs],
                "held_against_the_model_in": [*part.lemmas.worlds],
            }
            for part in proof.parts
        },
    }
