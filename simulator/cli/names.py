"""The names that commands accept (worlds, protocols, promises and so on), each with its meaning. Each list of names is
computed when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable

Row = tuple[str, str]


def worlds() -> list[Row]:
    from nbcc.simulator import specs

    return [(name, specs.about("worlds", name)) for name in specs.world_names()]


def protocols() -> list[Row]:
    from nbcc.simulator import specs

    return [(name, specs.about("protocols", name)) for name in specs.protocol_names()]


def promises() -> list[Row]:
    from nbcc.model.promises import PROMISES

    return [(promise.name, promise.about) for promise in PROMISES.values()]


def actions() -> list[Row]:
    from nbcc.model import mechanisms

    return [(action.name, action.about) for action in mechanisms.actions().values()]


def mutants() -> list[Row]:
    from nbcc.simulator.search import mutants

    return [(name, mutants.load(name).about) for name in mutants.names()]


def mechanisms() -> list[Row]:
    from nbcc.simulator.lockstep.mechanisms import features

    return [(feature.name, feature.about) for feature in features().values()]


def findings() -> list[Row]:
    from nbcc.simulator.lockstep import findings

    return [(name, findings.load(name).title) for name in findings.names()]


def scenarios() -> list[Row]:
    from nbcc.simulator.workload import scenario

    return [(name, scenario.load(name).about) for name in scenario.names()]


KINDS: dict[str, Callable[[], list[Row]]] = {
    "worlds": worlds,
    "protocols": protocols,
    "promises": promises,
    "actions": actions,
    "mutants": mutants,
    "mechanisms": mechanisms,
    "findings": findings,
}
