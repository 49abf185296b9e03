"""The answers of commands that read a table, run its services or repair it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from nbcc.engine.audit.inventory import FileRow, InstantRow, LeftOut, PlanRow, Role
from nbcc.engine.audit.key_records import Kind
from nbcc.engine.audit.record import DamagedFile
from nbcc.engine.audit.why import Status
from nbcc.engine.copying.copy import Copied
from nbcc.engine.repair.plans import PendingPlan
from nbcc.engine.repair.quarantine import Quarantined

from ..audit.diagnostics.diagnostic import Diagnostic, Gravity
from ..audit.history_check import HistoryCheck
from ..audit.report import PromiseLine, Verdict
from ..trace import Trace


class InventoryTable(TypedDict):
    name: str
    url: str
    version: int
    layout: int
    type: str
    merge_mode: str
    rules: str
    as_of: str | None
    notices: list[str]


@dataclass(frozen=True)
class SliceFile(FileRow):
    kind: Kind


class SliceAnswer(TypedDict):
    partition: str
    file_group: str
    barrier: str | None
    role: Role
    size: int
    base_file: str | None
    log_files: list[str]
    files: list[SliceFile]


class InspectAnswer(TypedDict):
    table: InventoryTable
    missing_or_cut: list[DamagedFile]
    instants: list[InstantRow]
    slices: list[SliceAnswer]
    plans: list[PlanRow]
    left_out: list[LeftOut]
    faults: list[DamagedFile]


class KeyFile(TypedDict):
    file: str
    kind: Kind
    requested: str
    completed: str | None
    slice: str | None
    record: Literal["row", "delete"]
    ordering: Any
    status: Status
    because: str
    sets: list[str] | None


class KeyGroup(TypedDict):
    partition: str
    file_group: str
    row: dict[str, Any] | None
    answer: str
    files: list[KeyFile]


class WhyAnswer(TypedDict):
    key: str
    rules: str
    merge_mode: str
    as_of: str | None
    groups: list[KeyGroup]


class ValidatedTable(TypedDict):
    version: str
    rules: str
    data_files: int
    opened: bool
    other_files: int


@dataclass(frozen=True)
class ValidatedHistory(HistoryCheck):
    verdict: str = ""


class MeasuredAnswer(TypedDict):
    value: float | None
    threshold: float | None


class ValidateAnswer(TypedDict):
    """The report on a table, or on a trace (`steps` and what follows it)."""

    verdict: Verdict
    table: NotRequired[ValidatedTable]
    because: NotRequired[str]
    history: NotRequired[ValidatedHistory | None]
    promises: NotRequired[dict[str, PromiseLine]]
    health: NotRequired[dict[str, MeasuredAnswer]]
    diagnostics: NotRequired[list[Diagnostic]]
    steps: NotRequired[int]
    legal_prefix: NotRequired[int]
    refused: NotRequired[str]
    reasons: NotRequired[list[str]]
    enabled: NotRequired[list[str]]


class IncidentSearch(TypedDict):
    protocol: str
    states: int
    whole: bool
    steps: int | None


class CauseAnswer(TypedDict):
    name: str
    places: int
    comes_about: str
    gravity: Gravity
    instants: list[str]
    searches: list[IncidentSearch]


class IncidentAnswer(TypedDict):
    """The causes and the shortest run, or the file that was written (--out)."""

    causes: NotRequired[list[CauseAnswer]]
    run: NotRequired[Trace | None]
    written: NotRequired[str]


class ServeAnswer(TypedDict):
    """One line of `nbcc serve --json`."""

    at: str
    service: str
    did: str
    instants: list[str]
    counts: dict[str, int]
    because: dict[str, Any]
    seconds: float


class InstantAnswer(TypedDict):
    action: str
    state: str
    requested: str
    completed: str | None


class TimelineAnswer(TypedDict):
    instants: list[InstantAnswer]


class ServiceAnswer(TypedDict):
    dry_run: bool
    instants: list[InstantAnswer]
    deleted: list[str]


class MergedGroup(TypedDict):
    partition: str
    file_group: str
    base_file: str | None
    log_files: list[str]
    bytes: int


class MergedPlan(TypedDict):
    requested: str
    file_groups: list[MergedGroup]


class CompactAnswer(ServiceAnswer):
    plans: list[MergedPlan]


class MergedLogs(TypedDict):
    requested: str
    logs: int


class LogCompactAnswer(ServiceAnswer):
    plans: list[MergedLogs]


class UndoAnswer(ServiceAnswer):
    undone: list[str]


class RewriteAnswer(ServiceAnswer):
    files: list[str]


class ConvertAnswer(ServiceAnswer):
    converted: bool


class IndexAnswer(ServiceAnswer):
    made: bool


class PartitionsAnswer(TypedDict):
    missing: list[str]
    written: list[str]
    dry_run: bool


class QuarantineAnswer(TypedDict):
    quarantine: list[Quarantined]
    changed: list[str]
    dry_run: bool


class OrphanAnswer(TypedDict):
    file: str
    size: int
    because: str
    kept: str


class OrphansAnswer(TypedDict):
    orphans: list[OrphanAnswer]
    quarantined: list[str]
    dry_run: bool


class PlansAnswer(TypedDict):
    plans: list[PendingPlan]
    deleted: list[str]
    dry_run: bool


class RetimeAnswer(TypedDict):
    put: str
    deleted: list[str]
    dry_run: bool


class CopiedTable(Copied):
    source: str
