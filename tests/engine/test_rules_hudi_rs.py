"""Each rule of the setting hudi-rs-0.5.0 has a history that hudi-rs reads as the setting says, not as without it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.simulator.lockstep.crosscheck import readers
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.foreign import foreign_rows
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import AS_HUDI_RS
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.systems.registry import factory

pytest.importorskip("hudi")
RULES = sorted(AS_HUDI_RS.differences())
MOST = 300
KINDS = ("writer", "compactor", "log_compactor")
"""The actors whose histories distinguish the rules; others only take their steps."""


def without(rule: str) -> Protocol:
    """The setting with one rule back at its default."""
    return Protocol.from_mapping({name: value for name, value in AS_HUDI_RS.differences().items() if name != rule})


def fresh(world: World, protocol: Protocol) -> Model:
    """Not `Model` itself, so that the edges of the pinned world are not counted."""
    return Model(world, protocol)


@cache
def distinguishing_seeds() -> Mapping[str, int]:
    """By rule the first seed whose history has a read that would have another answer without it."""
    found: dict[str, int] = {}

    def look(history: PlayedHistory, tally: Tally) -> None:
        if readers.not_predicted(history):
            return
        for query in readers._queries(history):
            answers = (history.model, history.state, query, history.data)
            with_all = foreign_rows(*answers, AS_HUDI_RS)
            for rule in set(RULES) - found.keys():
                if foreign_rows(*answers, without(rule)) != with_all:
                    found[rule] = seed

    for seed in range(MOST):
        Check(CheckOptions(factory("model"), model=fresh, readers=(look,), kinds=KINDS)).play(Random(seed).randrange)
        if len(found) == len(RULES):
            break
    return found


@pytest.mark.parametrize("rule", RULES)
def test_hudi_rs_falsifies_the_setting_without_a_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = distinguishing_seeds()[rule]
    setting = CheckOptions(factory("engine"), model=fresh, readers=(readers.hudi_rs,), kinds=KINDS)
    Check(setting).play(Random(seed).randrange)
    monkeypatch.setattr(readers, "AS_HUDI_RS", without(rule))
    with pytest.raises(Disagreement, match="by hudi-rs"):
        Check(setting).play(Random(seed).randrange)
