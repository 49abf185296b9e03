"""The maintenance policy of a table: which table services run, when they run, and how much history they retain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from ..errors import BadInput
from .options import AUTOMATIC, LEAST, MOST, Option, Refusal, choice, from_one, parsed

Compaction = Literal["run", "plan", "off"]
"""`run`: Plan compactions, and run all pending plans. `plan`: Only plan; another process runs the plans. The same words
say what becomes of resizes.
"""

LEAST_RESIZE_BYTES: Final = 1 << 20
"""The smallest `resize_bytes`: the footers of base files count, so that no number of buckets would meet a few KB."""

LARGEST: Final = 1 << 62

PolicyName = Literal["KEEP_LATEST_COMMITS", "KEEP_LATEST_BY_HOURS", "KEEP_LATEST_FILE_VERSIONS"]
"""The names of the policies of a clean, as in Hudi."""
POLICIES: Final = get_args(PolicyName)


@dataclass(frozen=True, slots=True)
class MaintenancePolicy:
    """The table services that `Table.maintain` runs, and their triggers. The default values are Hudi's defaults where
    Hudi has the same option.

    A compaction is planned as soon as one of its triggers is met. `compact_commits` triggers a compaction once that
    many writes have completed since the newest compaction plan. The other triggers consider only logs that no
    compaction plan contains yet. `compact_logs` is the number of such logs in one slice, and `compact_bytes` is their
    total size. `compact_seconds` is the age of the oldest such log.

    `resize` runs a pending resize that its process has left. If `resize_bytes` is given, a resize is planned as soon as
    the base files of a bucket have more than that many bytes, on average over a partition: it doubles the number of
    buckets until they have fewer.

    The value None disables a trigger. `log_compact_logs` is the number of logs in a slice that triggers a log
    compaction, if `log_compaction` is enabled. `clean_policy` and `clean_retained` are the arguments of `Table.clean`;
    a clean is planned once `clean_commits` writes have completed since the newest clean. If more than `archive_most`
    writes are active, all but the newest `archive_least` writes are archived. `batch_hours` is the age after which a
    batch id is deleted; a batch that is repeated after the deletion of its id is written again. `leftover_seconds` is
    the age after which files that belong to no instant are deleted.
    """

    rollback: bool = True
    resize: Compaction = "run"
    resize_bytes: int | None = None
    compaction: Compaction = "run"
    compact_commits: int | None = 5
    compact_logs: int | None = 10
    compact_bytes: int | None = None
    compact_seconds: int | None = 3600
    log_compaction: Compaction = "off"
    log_compact_logs: int = 5
    clean: bool = True
    clean_policy: PolicyName = "KEEP_LATEST_COMMITS"
    clean_retained: int = 10
    clean_commits: int = 1
    archive: bool = True
    archive_least: int = 20
    archive_most: int = 30
    collect: bool = True
    batch_hours: int = 168
    leftover_seconds: int = 3600

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), field.default)
        if self.archive_least >= self.archive_most:
            exists = f"archive_least is {self.archive_least}"
            raise _refused("archive_most", self.archive_most, exists, "give a number above archive_least")

    @property
    def runs(self) -> bool:
        """Return whether the policy enables any table service."""
        services = self.rollback, self.clean, self.archive, self.collect
        return any(services) or not self.compaction == self.log_compaction == self.resize == "off"


RETAINED: Final = ("commits", "hours", "versions")
"""The fields that the options of each clean policy set, in the order of `POLICIES`."""


def _check(name: str, value: object, default: object) -> None:
    if name == "clean_policy":
        if value not in POLICIES:
            raise _refused(name, value, f"the policies are {', '.join(POLICIES)}", "choose one of these")
    elif isinstance(default, bool):
        if not isinstance(value, bool):
            raise _refused(name, value, "a service is on or off", "give True or False")
    elif isinstance(default, str):
        if value not in get_args(Compaction):
            raise _refused(name, value, f"the values are {', '.join(get_args(Compaction))}", "choose one of these")
    elif value is None and (default is None or name.startswith("compact_")):
        return
    elif name == "resize_bytes" and isinstance(value, int) and value < LEAST_RESIZE_BYTES:
        raise _refused(name, value, "the footers of base files count", f"give at least {LEAST_RESIZE_BYTES}")
    elif not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < LARGEST:
        raise _refused(name, value, "it is a whole number from 1 on", "give such a number")


def _refused(name: str, value: object, exists: str, remedy: str) -> BadInput:
    return BadInput(f"maintain a table with {name}={value!r}", exists, remedy)


_DEFAULT: Final = MaintenancePolicy()
_FLAG: Final = choice(true=True, false=False)
_COUNT: Final = "a whole number from 1 on"

INLINE: Final = (
    Option("hoodie.compact.inline", "inline", _FLAG, "true or false"),
    Option("hoodie.compact.schedule.inline", "schedule", _FLAG, "true or false"),
    Option("hoodie.compact.inline.max.delta.commits", "compact_commits", from_one, _COUNT),
    Option("hoodie.compact.inline.max.delta.seconds", "compact_seconds", from_one, _COUNT),
    Option(
        "hoodie.compact.inline.trigger.strategy", "strategy",
        choice(num_commits="commits", time_elapsed="seconds", num_or_time="both"),
        "NUM_COMMITS, TIME_ELAPSED or NUM_OR_TIME",
    ),
    Option("hoodie.log.compaction.inline", "log_inline", _FLAG, "true or false"),
    Option("hoodie.log.compaction.blocks.threshold", "log_compact_logs", from_one, _COUNT),
    Option("hoodie.clean.automatic", "clean", _FLAG, "true or false"),
    Option(
        "hoodie.clean.policy", "clean_policy", choice(**{name.lower(): name for name in POLICIES}),
        " or ".join(POLICIES),
    ),
    Option("hoodie.clean.commits.retained", "commits", from_one, _COUNT),
    Option("hoodie.clean.hours.retained", "hours", from_one, _COUNT),
    Option("hoodie.clean.fileversions.retained", "versions", from_one, _COUNT),
    Option("hoodie.clean.trigger.max.commits", "clean_commits", from_one, _COUNT),
    Option(AUTOMATIC, "archive", _FLAG, "true or false"),
    Option(LEAST, "archive_least", from_one, _COUNT),
    Option(MOST, "archive_most", from_one, _COUNT),
)  # fmt: skip
"""The options of a writer that runs services after its commit, by the names of Hudi 1.x."""

ALIASES: Final[Mapping[str, str]] = {
    "hoodie.cleaner.policy": "hoodie.clean.policy",
    "hoodie.cleaner.commits.retained": "hoodie.clean.commits.retained",
    "hoodie.cleaner.hours.retained": "hoodie.clean.hours.retained",
    "hoodie.cleaner.fileversions.retained": "hoodie.clean.fileversions.retained",
    "hoodie.clean.max.commits": "hoodie.clean.trigger.max.commits",
}
"""Names of older Hudi releases that Hudi still accepts."""


def inline_policy(texts: Mapping[str, str], refuse: Refusal) -> MaintenancePolicy | None:
    """Return the maintenance policy of a writer with the given Hudi options, or None if the options enable no table
    service.

    A table service is disabled unless its option is given, whereas Hudi enables clean and archiving by default. If a
    value is invalid, raises the error returned by the callback `refuse`.
    """
    values = parsed(INLINE, {ALIASES.get(name, name): text for name, text in texts.items()}, refuse)
    least, most = values.get("archive_least", _DEFAULT.archive_least), values.get("archive_most", LARGEST)
    if least >= most:
        raise refuse(MOST, str(most), f"a number above {LEAST}, which is {least}")
    policy = _policy_of(values)
    return policy if policy.runs else None


def _policy_of(values: dict[str, Any]) -> MaintenancePolicy:
    name = values.get("clean_policy", _DEFAULT.clean_policy)
    given = {field: values[field] for field in ("log_compact_logs", "clean_commits") if field in values}
    least = values.get("archive_least", _DEFAULT.archive_least)
    strategy = values.get("strategy", "commits")
    return MaintenancePolicy(
        rollback=False,
        resize="off",
        compaction="run" if values.get("inline") else "plan" if values.get("schedule") else "off",
        compact_commits=values.get("compact_commits", 5) if strategy != "seconds" else None,
        compact_seconds=values.get("compact_seconds", 3600) if strategy != "commits" else None,
        compact_logs=None,
        log_compaction="run" if values.get("log_inline") else "off",
        clean=values.get("clean", False),
        clean_policy=name,
        clean_retained=values.get(RETAINED[POLICIES.index(name)], _RETAINED[POLICIES.index(name)]),
        archive=values.get("archive", False),
        archive_least=least,
        archive_most=values.get("archive_most", max(_DEFAULT.archive_most, least + 1)),
        collect=False,
        **given,
    )


_RETAINED: Final = (10, 24, 3)
"""The defaults of the options in `RETAINED`."""
