"""Computes statistics of a real table from its timeline, under the same names as the statistics of a simulation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from nbcc.engine.audit import Commit
from nbcc.engine.clock import to_millis
from nbcc.engine.file_names import split_path
from nbcc.engine.files.group_files import LogFile, data_file

from .summary import percentile

SAMPLES: Final = 240  # how often the log files of slices are counted


def seconds_of(commit: Commit) -> float | None:
    """Return the seconds from the request to the completion of a commit, or None if the completion time is unknown."""
    if not commit.instant.completed:
        return None
    return max(0.0, (to_millis(commit.instant.completed) - to_millis(commit.instant.requested)) / 1000)


def groups_of(commit: Commit) -> Iterator[tuple[str, str]]:
    """Return the partition and the file id of each data file of a commit."""
    for stat in commit.stats:
        if (file := data_file(stat.path, stat.size, commit.instant)) is not None:
            yield split_path(stat.path)[0], file.file_id


def past_figures(writes: Sequence[Commit], compactions: Sequence[Commit], seconds: float) -> dict[str, float]:
    """Return the statistics of a simulation report that can also be computed from a real timeline.

    `writes` are sorted by requested time. `seconds` is the length of the recorded period. The latency of a write is
    measured from its requested time, because a timeline records no earlier time.
    """
    latencies = [seconds_of(commit) or 0.0 for commit in writes]
    compacting = [seconds_of(commit) or 0.0 for commit in compactions]
    samples = [*_logs(writes, compactions)]
    return {
        "rows_per_second": sum(stat.writes + stat.deletes for commit in writes for stat in commit.stats) / seconds,
        "commits_per_minute": 60 * len(writes) / seconds,
        **{f"latency_p{share}": percentile(latencies, share) for share in (50, 95, 99)},
        "logs_per_slice": sum(mean for mean, _ in samples) / len(samples),
        "logs_greatest": max(most for _, most in samples),
        **({"compaction_seconds": sum(compacting) / len(compacting)} if compacting else {}),
    }


def _completed(commit: Commit) -> int:
    return to_millis(commit.instant.completed or "0")


def _logs(writes: Sequence[Commit], compactions: Sequence[Commit]) -> Iterator[tuple[float, int]]:
    """Yield the mean and maximum number of log files per file slice at regular intervals. Slices without log files are
    ignored.
    """
    events = [(_completed(commit), 0, commit) for commit in writes]
    events += [(_completed(commit), 1, commit) for commit in compactions]
    events.sort(key=lambda event: event[:2])
    start, end = to_millis(writes[0].instant.requested), events[-1][0]
    logs: dict[tuple[str, str], list[int]] = defaultdict(list)
    done = 0
    for number in range(1, SAMPLES + 1):
        while done < len(events) and events[done][0] <= start + (end - start) * number / SAMPLES:
            completed, is_compaction, commit = events[done]
            done += 1
            if is_compaction:
                barrier = to_millis(commit.instant.requested)
                for group in set(groups_of(commit)):
                    logs[group] = [each for each in logs[group] if each >= barrier]
                continue
            for stat in commit.stats:
                file = data_file(stat.path, stat.size, commit.instant)
                if isinstance(file, LogFile):
                    logs[split_path(stat.path)[0], file.file_id].append(completed)
        counts = [len(each) for each in logs.values() if each]
        yield (sum(counts) / len(counts) if counts else 0.0), max(counts, default=0)
