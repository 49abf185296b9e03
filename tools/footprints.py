"""Records the footprints of worlds: what a search under the default protocol reads, in specs/footprints.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from nbcc.model import Protocol, World
from nbcc.model.protocol import choices
from nbcc.simulator.search.explore import Verdict
from nbcc.simulator.search.footprint import WorldFootprint, key_of
from nbcc.simulator.search.jobs import SearchJob
from nbcc.simulator.search.verdicts.data import described


def text(worlds: Iterable[World]) -> str:
    """Return the content of the file of footprints, one line for each world. Most worlds call nearly all rules, so the
    line of a world has those that it does not call.
    """
    return written({key_of(each): footprint(each) for each in worlds})


def written(known: Mapping[str, WorldFootprint]) -> str:
    """Return footprints by the key of their world as the content of their file."""
    rules = sorted({name for each in known.values() for name in each.rules})
    described_by = {key: json.dumps(_line(each, rules), ensure_ascii=False) for key, each in known.items()}
    lines = (f"  {json.dumps(key)}: {line}" for key, line in described_by.items())
    head = f' "format": 1,\n "known": {json.dumps(sorted(choices()))},\n "rules": {json.dumps(rules)},\n "worlds": {{\n'
    body = ",\n".join(lines)
    return f"{{\n{head}{body}\n }}\n}}\n"


def _line(each: WorldFootprint, rules: Sequence[str]) -> dict[str, object]:
    found = {name: value for name, value in asdict(each).items() if name != "rules"}
    return {**found, "uncalled": [name for name in rules if name not in each.rules]}


def footprint(world: World) -> WorldFootprint:
    """Search a world under the default protocol, and return its footprint.

    Raises ValueError if a promise is violated: the world then says nothing about protocols that keep it.
    """
    result = SearchJob(world=world, protocol=Protocol(), records=True).run()
    assert result.reads is not None
    options, rules = result.reads
    found = {verdict: tuple(n for n, p in result.promises.items() if p.verdict is verdict) for verdict in Verdict}
    if found[Verdict.VIOLATED] or result.stopped:
        raise ValueError(f"{world.name or described(world)}: {result.stopped or found[Verdict.VIOLATED]}")
    return WorldFootprint(
        world=world.name or described(world), states=result.distinct, options=options, rules=rules,
        holds=found[Verdict.HOLDS],
    )  # fmt: skip
