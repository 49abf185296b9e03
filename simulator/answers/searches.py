"""The answers of commands that search the model, compare systems with it, or simulate a workload."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from nbcc.engine.spark.checks import CheckResult

from ..search.comparison import Change
from ..search.explore.verdict import Verdict
from ..search.options import DecidingOption
from ..search.prove.obligations import Answer
from ..search.prove.reachable import BreakingRun
from ..trace import Trace
from ..workload.scenario import Mode
from ..workload.summary import Figure

Compared = Literal["AGREED", "DISAGREED", "UNDETERMINED"]


class StepAnswer(TypedDict):
    actor: str
    action: str
    args: dict[str, Any]


class ExplanationAnswer(TypedDict):
    name: str
    kind: str
    about: str
    source: str
    links: list[str]
    more: list[str]
    shows: str | None
    run: Trace | None


class ExplainAnswer(TypedDict):
    explanations: list[ExplanationAnswer]


class NamedAnswer(TypedDict):
    name: str
    about: str


class DoctorAnswer(TypedDict):
    checks: list[CheckResult]
    missing: dict[str, list[str]]


class SearchedPromise(TypedDict):
    verdict: Verdict
    bound: str
    steps: int | None
    trace: list[StepAnswer] | None
    because: str | None
    cycle: NotRequired[int]
    handle: NotRequired[str]


class NeverFalse(TypedDict):
    action: str
    condition: str


class CoverageAnswer(TypedDict):
    actions: dict[str, int]
    never_false: list[NeverFalse]
    untested: list[str]


class ExploreAnswer(TypedDict):
    world: str
    protocol: str
    distinct: int
    generated: int
    depth: int
    seconds: float
    states_per_second: int | None
    stopped: str | None
    deadlock: list[StepAnswer] | None
    ends: int
    ends_at_limit: int
    reductions: list[str]
    stands_for: int | None
    coverage: CoverageAnswer | None
    promises: dict[str, SearchedPromise]


class CellAnswer(TypedDict):
    verdict: Verdict
    bound: list[dict[str, int]]
    steps: int | None
    trace: list[StepAnswer] | None
    because: NotRequired[str]
    evidence: NotRequired[str]


class LockCell(TypedDict):
    verdict: Verdict
    steps: NotRequired[int]
    because: NotRequired[str]
    trace: NotRequired[list[StepAnswer]]


class LockRow(TypedDict):
    name: str
    lock: str
    kind: str
    depth: str
    about: str
    promises: dict[str, LockCell]
    searched: dict[str, int]


class SearchesAnswer(TypedDict):
    cached: int
    untouched: int
    made: int


class UnknownOption(TypedDict):
    option: str
    nearest: str


class WriterRow(TypedDict):
    file: str
    row: str | None
    because: str
    decided_by: list[DecidingOption]
    unknown: list[UnknownOption]
    notes: list[str]


class VerdictsAnswer(TypedDict):
    """The matrix, the locks alone (--locks), or the row of writers (--options)."""

    protocols: NotRequired[dict[str, dict[str, CellAnswer]]]
    locks: NotRequired[list[LockRow]]
    searches: NotRequired[SearchesAnswer]
    row: NotRequired[str | None]
    because: NotRequired[str]
    writers: NotRequired[list[WriterRow]]
    promises: NotRequired[dict[str, str]]


class BaseVerdict(TypedDict):
    verdict: Verdict
    steps: int | None


class JudgedCell(CellAnswer):
    change: Change
    searched: bool
    against: BaseVerdict
    handle: str | None


class JudgedWorlds(TypedDict):
    searched: int
    recorded: int


class JudgeAnswer(TypedDict):
    protocol: str
    against: str
    options: dict[str, str]
    worlds: JudgedWorlds
    seconds: float
    promises: dict[str, JudgedCell]


class ProvedPromise(TypedDict):
    verdict: Answer
    lemmas: dict[str, Answer]
    missing: list[str]


class OpenObligation(TypedDict):
    obligation: str
    answer: Answer


class LemmasAnswer(TypedDict):
    clauses: int
    obligations: int
    seconds: float
    open: list[OpenObligation]
    reason: str
    reachable_runs: list[BreakingRun]
    held_against_the_model_in: list[str]


class ProveAnswer(TypedDict):
    protocol: str
    verdict: Answer
    promises: dict[str, ProvedPromise]
    lemmas: dict[str, LemmasAnswer]


class ReportAnswer(TypedDict):
    """The answer of random histories, or of a tour."""

    verdict: Compared
    steps: int
    edges: int
    all_edges: int
    seconds: float
    seed: int
    trace: str | None
    because: str
    histories: NotRequired[int]
    median_steps: NotRequired[float]
    median_switches: NotRequired[float]
    overlapping: NotRequired[int]
    differences: NotRequired[dict[str, int]]
    skipped: NotRequired[dict[str, int]]
    faults: NotRequired[dict[str, int]]
    runs: NotRequired[int]
    all_runs: NotRequired[int]


class CheckedSeed(ReportAnswer):
    system: str


class CheckAnswer(TypedDict):
    """Systems, or seeds (--seeds)."""

    systems: NotRequired[dict[str, ReportAnswer]]
    seeds: NotRequired[list[CheckedSeed]]


class OutcomeAnswer(TypedDict):
    fits: bool
    stopped_at: int | None
    reasons: list[str]
    same: bool
    verdict: str
    because: str


class ReplayAnswer(TypedDict):
    """One trace, or the traces of a folder."""

    handle: NotRequired[str]
    systems: NotRequired[dict[str, OutcomeAnswer]]
    traces: NotRequired[dict[str, dict[str, OutcomeAnswer]]]


class FillAnswer(TypedDict):
    vectors: int
    bytes: int
    largest: int
    transitions: list[str]
    disagreed: dict[str, str]
    unplayable: dict[str, str]


class WriterFigures(TypedDict):
    commits: float
    attempts_of_each: float
    latency_p50: float


class ModeFigures(TypedDict):
    figures: dict[str, Figure]
    by_writers: dict[str, WriterFigures]
    seconds_of_a_commit: dict[str, float]
    bottleneck: str


class SimulatedInterval(TypedDict):
    compact_every: float
    modes: dict[str, ModeFigures]


class RecordedTable(TypedDict):
    mode: Mode | None
    compactions: int
    compact_every: float
    figures: dict[str, float]


class SimulateAnswer(SimulatedInterval):
    scenario: str
    hours: float
    writers: int
    store: str
    compared_with: NotRequired[SimulatedInterval]
    recorded: NotRequired[RecordedTable]
    warnings: list[str]
    calibrated_on: str
