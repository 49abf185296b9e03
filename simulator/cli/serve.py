"""`nbcc serve TABLE`: runs the table services of a table repeatedly."""

from __future__ import annotations

import ctypes
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from .check import Duration
from .command import WholeNumber, debug_option, echo
from .outcome import Exit
from .table.services import POLICIES
from .table.shared import master_option
from .tables import merge_function_option, opened, opening_options, storage_option, storage_options

if TYPE_CHECKING:
    from nbcc.engine.actions.maintain import ServiceStep
    from nbcc.engine.config.maintenance import MaintenancePolicy

SERVICES = ("rollback", "resize", "compact", "clean", "archive", "collect")

COLLECT_SECONDS = 60.0
"""The shortest time between two collections. A collection lists every batch id and reads the archived timeline, and no
leftover is younger than an hour.
"""

_count = WholeNumber(min=1)


def _policy_options(function: Callable[..., Exit]) -> Callable[..., Exit]:
    options: tuple[Callable[[Any], Any], ...] = (
        click.option("--without", multiple=True, type=click.Choice(SERVICES),
                     help="Do not run this service; may be repeated."),
        click.option("--plan-only", is_flag=True,
                     help="Plan compactions and resizes; another process runs them."),
        click.option("--resize-bytes", type=WholeNumber(min=1 << 20), metavar="N",
                     help="Double the buckets as soon as their base files have more than N bytes, on average over a "
                          "partition.  [default: never]"),
        click.option("--compact-commits", type=_count, default=5, show_default=True, metavar="N",
                     help="Compact after N writes."),
        click.option("--compact-logs", type=_count, default=10, show_default=True, metavar="N",
                     help="Compact as soon as a file slice has N logs."),
        click.option("--compact-bytes", type=_count, metavar="N",
                     help="Compact as soon as the logs of a file slice have N bytes.  [default: any size]"),
        click.option("--compact-age", type=Duration(), default="1h", show_default=True, metavar="TIME",
                     help="Compact as soon as a log is older than this."),
        click.option("--log-compact", type=_count, metavar="N",
                     help="Merge the logs of a file slice into one log as soon as it has N.  [default: never]"),
        click.option("--retain", type=_count, default=10, show_default=True, metavar="N",
                     help="How many commits, hours or file versions a clean leaves readable."),
        click.option("--by", "unit", type=click.Choice([*POLICIES]), default="commits", show_default=True,
                     help="The unit of --retain."),
        click.option("--active", type=_count, default=30, show_default=True, metavar="N",
                     help="Archive as soon as more than N writes are active."),
        click.option("--keep", type=_count, default=20, show_default=True, metavar="N",
                     help="How many of the newest writes archiving leaves active."),
        click.option("--batch-ids", "batch_hours", type=_count, default=168, show_default=True, metavar="HOURS",
                     help="Delete the id of a batch after this time; a batch sent again later is written again."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@click.command(short_help="Run the services of one table again and again: compact, clean, archive.")
@click.argument("table")
@click.option("--once", is_flag=True, help="End after one pass.")
@click.option("--every", type=Duration(), default="60s", show_default=True, metavar="TIME",
              help="Begin a pass this long after the end of the last one.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only report what one pass would do.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, for metrics.")
@_policy_options
@master_option
@merge_function_option
@storage_option
@debug_option
def command(
    table: str, once: bool, every: float, dry_run: bool, as_json: bool, master: str | None, **options: Any
) -> Exit:
    """Run the services of TABLE repeatedly, until SIGTERM, so that no writer has to run them.

    Each pass rolls back the writes of dead writers, runs pending resizes and compactions, and plans and runs those that
    are due. After the compactions, a pass cleans and archives the table. At most once a minute, it then deletes files
    that are no longer needed: batch ids, old entries of the decision log, and markers. A pass prints one line per
    action, and measurements of the table at the end. Writers never wait for a service, and no service changes the rows
    of a snapshot.

    Several processes may serve one table. If two processes run the same plan, the first to publish completes the plan,
    and the other deletes its own files. SIGTERM and Ctrl-C end a process after the current action. A failed pass is
    reported, and the next pass tries again; with --once the command fails.

    \b
    Examples:
      nbcc serve /data/trips --once --dry-run       what is due now?
      nbcc serve /data/trips --every 5m --compact-logs 20
      nbcc serve /data/trips --json >> metrics.jsonl
      nbcc serve /data/trips --without compact      a writer with hoodie.compact.inline compacts
    """
    policy = _policy(**options)
    with opened(table, "serve"), _stop_on_signal() as stop:
        from nbcc.engine import Table
        from nbcc.engine.actions.maintain import steps
        from nbcc.engine.errors import CannotRun, Conflict

        served = Table.open(_session(master), table, storage_options(), options=opening_options())
        collected = -COLLECT_SECONDS
        while True:
            collects = policy.collect and time.monotonic() - collected >= COLLECT_SECONDS
            try:
                for step in steps(served.context, served.config, replace(policy, collect=collects), dry_run):
                    _report(step, as_json)
                    if stop.is_set():
                        break
            except (Conflict, CannotRun) as failed:
                if once or dry_run:
                    raise
                echo(f"this pass failed, the next begins in {every:g} s: {failed}", err=True)
            else:
                collected = time.monotonic() if collects else collected
            if collects:
                _return_memory()
            if once or dry_run or stop.wait(every):
                break
        if stop.is_set():
            echo("stopped by a signal, between two actions", err=True)
    return Exit.AGREES


def _policy(
    *, without: tuple[str, ...], plan_only: bool, resize_bytes: int | None, compact_commits: int, compact_logs: int,
    compact_bytes: int | None, compact_age: float, log_compact: int | None, retain: int, unit: str, active: int,
    keep: int, batch_hours: int,
) -> MaintenancePolicy:  # fmt: skip
    from nbcc.engine.config.maintenance import MaintenancePolicy

    if keep >= active:
        raise click.UsageError(f"--keep {keep} is not below --active {active}, so that nothing would be archived")
    mode: Any = "plan" if plan_only else "run"
    return MaintenancePolicy(
        rollback="rollback" not in without,
        resize="off" if "resize" in without else mode,
        resize_bytes=resize_bytes,
        compaction="off" if "compact" in without else mode,
        compact_commits=compact_commits,
        compact_logs=compact_logs,
        compact_bytes=compact_bytes,
        compact_seconds=max(1, round(compact_age)),
        log_compaction="off" if log_compact is None or "compact" in without else mode,
        log_compact_logs=log_compact or 5,
        clean="clean" not in without,
        clean_policy=POLICIES[unit],
        clean_retained=retain,
        archive="archive" not in without,
        archive_least=keep,
        archive_most=active,
        collect="collect" not in without,
        batch_hours=batch_hours,
    )


def _report(step: ServiceStep, as_json: bool) -> None:
    """Print one line about a service step, and flush standard output, because a monitor may read the lines."""
    if as_json:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        echo(json.dumps({"format": 1, "at": now, **step.record()}, ensure_ascii=False))
    else:
        echo(str(step))
    sys.stdout.flush()


def _return_memory() -> None:
    """Return freed memory to the operating system. Arrow and glibc keep what a merge of archive files needed once."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:  # glibc alone has it
        trim(0)


@contextmanager
def _stop_on_signal() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM or Ctrl-C sets. A second signal has its usual effect: it ends the process
    immediately.
    """
    stop = threading.Event()
    before: dict[int, Any] = {}

    def requested(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, before[number])

    main = threading.current_thread() is threading.main_thread()
    for each in (signal.SIGTERM, signal.SIGINT) if main else ():
        before[each] = signal.signal(each, requested)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _session(master: str | None) -> Any:
    if master is None:
        return None
    from nbcc.engine.spark.session import session

    return session("nbcc serve", master=master)
