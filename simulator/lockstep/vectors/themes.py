"""The worlds from whose tours vectors are chosen, and the stored runs that become vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.archiving.mechanism import ARCHIVER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.world import crew

from ... import specs
from ...observables import model_timeline
from ...search.explore.quotient import Quotient
from ...search.explore.tours import tours
from ...symbols import Symbols
from ...trace import Trace
from ...trace import load as load_trace
from .. import findings


class Theme(NamedTuple):
    """A part of the protocol with the worlds that show it, and how many vectors `small` has of each world."""

    name: str
    worlds: Sequence[tuple[World, int]]


def _in(name: str, count: int, **changes: Any) -> tuple[World, int]:
    return specs.world(name).replace(**changes), count


BY_COMMIT_TIME: Final[Mapping[str, Any]] = {"merge_mode": "COMMIT_TIME_ORDERING"}

STALLED: Final = World(
    name="stalled", about="A writer stalls until its heartbeat has expired; two rollbackers undo its write.",
    actors=crew(WRITER, ROLLBACKER, ROLLBACKER), stalls=1, rollbacks=1, compactions=0,
)  # fmt: skip
ARCHIVED_OFTEN: Final[Mapping[str, Any]] = {
    "actors": crew(WRITER, ARCHIVER), "writes_per_writer": 4, "compactions": 0, "archives": 3,
}  # fmt: skip
"""An archive of more than two files."""


def themes() -> tuple[Theme, ...]:
    """Return the themes; the first six are those whose transitions the vectors of every size take."""
    return (
        Theme("core", (_in("demo", 44), _in("demo", 30, **BY_COMMIT_TIME), _in("log_versions", 16))),
        Theme("rollback", ((STALLED, 30), _in("rollback_beside_compaction", 24))),
        Theme("log-compaction", (_in("log_compaction", 30), _in("log_compaction", 16, **BY_COMMIT_TIME))),
        Theme("replaces", (_in("replaces", 36),)),
        Theme("cleaning", (_in("cleaning", 30), _in("consumers_cleaned", 10))),
        Theme("archiving", (_in("archiving_crash", 24), _in("archiving", 16), _in("archiving", 1, **ARCHIVED_OFTEN))),
        Theme("restores", (_in("restores", 20),)),
        Theme("columns", (_in("columns_added", 16),)),
        Theme("partial-updates", (_in("partial_updates", 12),)),
        Theme("merge-function", (_in("merged_by_function", 10),)),
        Theme("foreign-services", (_in("foreign_late", 24),)),
    )


COVERED: Final = 6
"""So many themes come first and take all their transitions in every size."""


class VectorRun(NamedTuple):
    """A run to play: its name, the world, the steps, what it shows, and its stored rows (None: random ones)."""

    name: str
    world: World
    steps: tuple[Step, ...]
    rule: str
    source: str
    batches: Any = None


def runs_of_worlds(size: str) -> Iterator[VectorRun]:
    """Yield runs of tours: in `tiny` the fewest that take every action, in `standard` whole tours of small worlds."""
    for number, theme in enumerate(themes()):
        if size == "tiny" and number >= COVERED:
            return
        for part, (world, count) in enumerate(theme.worlds[: 1 if size == "tiny" else None], start=1):
            every = _runs(world)
            for place in _chosen(every, {"tiny": 7, "small": count, "standard": 4 * count}[size]):
                source = f"run {place + 1} of {len(every)} of a tour of {world.name}"
                yield VectorRun(f"{theme.name}-{part}-{place + 1:04}", world, every[place], world.about, source)


def _runs(world: World) -> list[tuple[Step, ...]]:
    # Tours of the quotient: two writers that only swap their names need no vector each.
    graph = Quotient(Model(world, Protocol()))
    return [tuple(graph.run(run)) for run in tours(graph.edges(), graph.first)]


def _chosen(runs: Sequence[Sequence[Step]], count: int) -> list[int]:
    """Return the places of the fewest runs that take every action (chosen greedily), and of others, spread evenly over
    the longer half: in short runs few actors meet.
    """
    left = {step.action for run in runs for step in run}
    chosen: dict[int, None] = {}
    while left:
        best = max(range(len(runs)), key=lambda place: len(left & {step.action for step in runs[place]}))
        chosen[best] = None
        left -= {step.action for step in runs[best]}
    # Sorted by place again, so that the choice is spread over the tour and not over lengths.
    longer = sorted(sorted(range(len(runs)), key=lambda place: -len(runs[place]))[: max(count, len(runs) // 2)])
    for place in longer[:: max(1, len(longer) // max(1, count))]:
        if len(chosen) < count:
            chosen[place] = None
    return sorted(chosen)


def stored_runs() -> Iterator[VectorRun]:
    """Yield the runs of findings and of the gallery, played under the default protocol as far as it takes their steps.

    The gallery has a run for most weaker forms of a rule, in which the weaker form gives another answer.
    """
    for name in findings.names():
        finding = findings.load(name)
        if finding.path.exists():
            yield _replayed(f"finding-{name}", finding.trace, finding.title, f"finding {name}")
    for path in sorted((findings.FOLDER.parent / "traces").glob("*.json")):
        trace = load_trace(path)
        # A vector has one protocol for all its actors.
        if not trace.world.settings:
            yield _replayed(f"gallery-{path.stem}", trace, trace.title, f"gallery run {path.stem}")


def _replayed(name: str, trace: Trace, rule: str, source: str) -> VectorRun:
    model = Model(trace.world, Protocol())
    return VectorRun(name, trace.world, tuple(_possible(model, trace.steps)), rule, source, trace.batches)


def _possible(model: Model, steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps, with times for symbols, until one that the model cannot take."""
    state: State = model.initial
    symbols = Symbols(())
    for named in steps:
        symbols = symbols.then(model_timeline(model, state))
        try:
            step = symbols.resolved(named)
        except KeyError:
            return
        # The default protocol refuses what the finding shows; what came before is still a good vector.
        if step not in model.enabled(state):
            return
        yield step
        state = model.apply(state, step)
