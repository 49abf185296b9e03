"""Prepares a check against a mutant: a deliberately wrong option or function of the model or the engine."""

from __future__ import annotations

from dataclasses import asdict, replace

from nbcc.engine.rules import Rules
from nbcc.model import Model, Protocol, World
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions
from nbcc.simulator.lockstep.systems import System
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.engine_rules import rules_of
from nbcc.simulator.search.mutants import Mutant
from nbcc.simulator.trace import Batches


def options_of(mutant: Mutant, options: CheckOptions) -> CheckOptions:
    """Return ``options`` changed so that the model or the engine contains the mutant's fault.

    If the mutant replaces a function, run the check inside the context manager `nbcc.simulator.search.mutants.applied`.
    """
    if mutant.world:
        options = replace(options, world=specs.world(mutant.world))
    if mutant.under:
        options = replace(options, protocol=specs.protocol(mutant.under))
    if mutant.rules:

        def broken_engine(world: World, protocol: Protocol, batches: Batches) -> System:
            rules = Rules.from_mapping({**asdict(rules_of(protocol)), **mutant.rules})
            return EngineSystem(world, protocol, rules=rules)

        return replace(options, factory=broken_engine)
    if mutant.protocol:

        def broken_model(world: World, protocol: Protocol) -> Model:
            return Model(world, Protocol.from_mapping({**protocol.to_mapping(), **mutant.protocol}))

        return replace(options, model=broken_model)
    return options
