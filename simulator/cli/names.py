"""The names that commands accept (worlds, protocols, promises and so on), each with its meaning. Each list of names is
computed when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click import Context, Parameter
from click.shell_completion import CompletionItem

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


def words() -> list[Row]:
    from nbcc.simulator import glossary

    return [*glossary.words().items()]


def scenarios() -> list[Row]:
    from nbcc.simulator.workload import scenario

    return [(name, scenario.load(name).about) for name in scenario.names()]


def traces() -> list[Row]:
    from importlib.resources import files

    from nbcc.simulator import trace

    from .command import TRACES

    folders = (Path(TRACES), Path(str(files("nbcc") / "specs" / "traces")))
    return [(path.stem, trace.load(path).title) for folder in folders for path in sorted(folder.glob("*.json"))]


_KINDS = (worlds, protocols, promises, actions, mutants, mechanisms, findings, words)
KINDS: dict[str, Callable[[], list[Row]]] = {each.__name__: each for each in _KINDS}


def sections(*kinds: str) -> Callable[[], list[tuple[str, list[Row]]]]:
    """Return the function that lists the names of these kinds for the help of a command, each kind under its title."""
    return lambda: [(kind.capitalize(), COMPLETED[kind]()) for kind in kinds]


def completes(*kinds: str) -> Callable[[Context, Parameter, str], list[CompletionItem]]:
    """Return the function by which a shell completes an argument: with names of these kinds, each with its meaning, and
    otherwise with files.
    """

    def complete(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
        rows = [row for kind in kinds for row in COMPLETED[kind]() if row[0].startswith(incomplete)]
        return [CompletionItem(name, help=about) for name, about in rows] or [CompletionItem(incomplete, type="file")]

    return complete


COMPLETED = {**KINDS, "scenarios": scenarios, "traces": traces}
