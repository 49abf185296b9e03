"""The driver of one stream: a process that copies a table by `readStream` and `writeStream`, and its subprocesses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from nbcc.engine.data_source.stream_options import CONSUMER

from . import launch

NAME: Final = "copy"
"""The name under which the stream publishes its progress in the source."""

CONF: Final = {
    "spark.sql.streaming.minBatchesToRetain": "100000",  # the checkpoint's offsets are compared at the end
    "spark.python.daemon.module": "tools.stream_kills.daemon",
    # A JVM that lives for a minute starts with a third of the processor time if it does not optimise.
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
IDLE: Final = ("lookup_data_sources", "create_data_source", "<defunct>")
"""Parts of the command lines of processes that no running trigger uses."""


def drive(folder: Path, last: bool) -> None:
    """Run the query in this process, and start it again after each death of a worker. `last`: until all is copied."""
    from nbcc import session

    sys.executable = launch.script(folder / "python")
    spark = session("stream_kills", conf=CONF)
    notes = folder / "notes"
    while True:
        try:
            reader = spark.readStream.format("nbcc").option("hoodie.datasource.query.type", "incremental")
            reader = reader.option(CONSUMER, NAME)
            writer = reader.load(str(folder / "source")).writeStream.format("nbcc")
            writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
            writer = writer.trigger(availableNow=True) if last else writer.trigger(processingTime="0 seconds")
            query = writer.start(str(folder / "copy"))
            _note(notes, f"runs {os.getpid()}")
            query.awaitTermination()
            return
        except Exception as died:  # a worker that plans the query dies in other ways than one that runs it
            _note(notes, f"died {os.getpid()}")
            # An error of nbcc, unless the trigger may run again: on a busy machine a live heartbeat can expire.
            if "Asked to" in str(died) and "run the operation again" not in str(died):
                raise
            print(f"the query died: {str(died)[:200]}", file=sys.stderr, flush=True)


def _note(notes: Path, text: str) -> None:
    with notes.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def deaths(folder: Path) -> int:
    """The number of deaths of the query that its drivers have noted."""
    return sum(line.startswith("died") for line in _lines(folder))


def runs(folder: Path, driver: int) -> bool:
    """Return True if the query runs in this driver: the last note of the driver says that it was started."""
    last = [line for line in _lines(folder) if line.endswith(f" {driver}")]
    return bool(last) and last[-1].startswith("runs")


def _lines(folder: Path) -> list[str]:
    notes = folder / "notes"
    return notes.read_text("utf-8").splitlines() if notes.exists() else []


def start(folder: Path, last: bool = False) -> subprocess.Popen[bytes]:
    """Start a driver."""
    command = [sys.executable, "-m", "tools.stream_kills", "--drive", str(folder), *(["--last"] if last else [])]
    with (folder / "driver.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def descendants(root: int) -> dict[int, str]:
    """The processes below a process, with their command lines. Linux and macOS."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    parents = {int(row[0]): int(row[1]) for row in rows}
    arguments = {int(row[0]): row[-1] for row in rows}

    def is_below(pid: int) -> bool:
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    return {pid: arguments[pid] for pid in parents if pid != root and is_below(pid)}


def still_there(before: Mapping[int, str]) -> list[int]:
    """The processes that are still there: their numbers may be those of other processes now."""
    command = ["ps", "-o", "pid=,args=", "-p", ",".join(map(str, before))]
    listed = subprocess.run(
        command, capture_output=True, text=True, check=False
    ).stdout  # exits with 1 if none is there
    rows = [line.split(None, 1) for line in listed.splitlines()]
    return [int(pid) for pid, arguments in rows if before[int(pid)].split() == arguments.split()]


def workers(below: Mapping[int, str]) -> list[int]:
    """The Python workers among the processes below a driver."""
    return [pid for pid, arguments in below.items() if "pyspark" in arguments and "java" not in arguments]


def jvms(below: Mapping[int, str]) -> list[int]:
    return [pid for pid, arguments in below.items() if "java" in arguments]


def busy(below: Mapping[int, str]) -> list[int]:
    """The Python workers that a running trigger may use."""
    return [pid for pid in workers(below) if not any(part in below[pid] for part in IDLE)]


def send(signal_: signal.Signals, pids: Collection[int]) -> list[int]:
    """Send a signal to processes, and return those that were there."""
    return [pid for pid in pids if _sent(pid, signal_)]


def _sent(pid: int, signal_: signal.Signals) -> bool:
    try:
        os.kill(pid, signal_)
    except ProcessLookupError:
        return False
    return True
