"""Sentences that explain how a weaker option value than the default can cause a wrong answer."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """Two sentences that explain why a reader uses or ignores a file. `did` states what happened because the option is
    weaker than the default. `right` states what happens with the option's default value.

    The placeholders {r} and {c} are the file's requested and completion times. {b} is a barrier or a base file. {T} is
    the time of an as-of read. {other} is the row with which the file's row is compared, and {o} is its requested time.
    {at} and {seen} contain the completion time of that row.
    """

    did: str
    right: str


# fmt: off
RULES: dict[str, Rule] = {
    "slicing=requested": Rule(
        "Sliced by requested time, t{r} < barrier t{b}: it counts as replaced by base t{b}, which never took "
        "it because it had not completed.",
        "sliced by completion time, t{c} > barrier t{b}: the log belongs to slice t{b}"),
    "slicing=base_instant": Rule(
        "Sliced by the base instant in its name, looked up before plan t{b} was made: it counts as replaced by "
        "base t{b}, which never took it.",
        "sliced by completion time, t{c} > barrier t{b}: the log belongs to slice t{b}"),
    "tombstones=drop": Rule(
        "Compaction t{b} took the delete and dropped it: base t{b} holds nothing that outranks {other}.",
        "compaction keeps the delete with base t{b}, where it outranks {other}"),
    "services=foreign": Rule(
        "Another engine ran compaction t{b}: it merged by requested time and dropped the deletes.",
        "a compaction of nbcc merges by completion time and keeps the deletes with base t{b}"),
    "plan_takes=any_log": Rule(
        "Plan t{b} took the log although its write had not completed.",
        "a plan takes only writes that completed before its barrier"),
    "visibility=any": Rule(
        "The reader takes all files and does not check whether their write completed.",
        "a file counts only once a completed instant lists it"),
    "merge_order=requested": Rule(
        "Merged by requested time, t{r} < t{o} of {other}, though it completed later.",
        "merged by completion time, t{c} comes last and wins"),
    "fold=logs_first": Rule(
        "Logs merge with each other before they meet the base file, so another row wins.",
        "base file and logs are ranked together"),
    "as_of_axis=requested": Rule(
        "As of t{T} is judged by requested time t{r}, not by completion time t{c}.",
        "an as-of read counts the writes that completed at or before its time"),
    "as_of_axis=requested_slices": Rule(
        "As of t{T} is judged by requested time t{r}, not by completion time t{c}, and by the slices of now.",
        "an as-of read counts the writes that completed at or before its time"),
    "first_slice=first_requested": Rule(
        "Its slice begins with the log of a pending write that was requested earlier: the whole slice is not read.",
        "the slice begins with the completed logs; the pending log is skipped"),
    "as_of_pending=refused": Rule(
        "A write that was requested by then is pending, so the read is refused.",
        "a read at a settled time does not depend on pending writes"),
    "window_merge=slice_of_window": Rule(
        "The window merges the newest slice of its files, and shows what its writes set there.",
        "the window merges the logs of its writes with each other"),
    "window_merge=slice_of_table": Rule(
        "The window merges the newest slice that begins within it, and shows what its writes set there.",
        "the window merges the logs of its writes with each other"),
    "window_deletes=omitted": Rule(
        "The window leaves out winning deletes.",
        "a window shows deletes, marked"),
    "incremental_axis=requested": Rule(
        "The window is cut by requested time t{r}, not by completion time t{c}.",
        "the window takes the writes that completed in it"),
    "listing=once": Rule(
        "The reader's one listing saw {seen} but missed this one, completed t{c}: both completed while it ran.",
        "the reader lists again and takes all writes completed up to the latest one it saw{at}"),
    "completion_time=outside_lock": Rule(
        "Its completion time t{c} was taken before the lock, and later times were published first.",
        "completion time and publication share one lock, so no earlier completion appears after a read"),
    "read_time=clock": Rule(
        "The reader read as of the clock; t{c} was taken but not yet published.",
        "a reader reads at the greatest published completion"),
    "scheduling=serial": Rule("The plan waited until no write was pending.", "a plan never waits for writers"),
}
# fmt: on
HELPS = {
    "hidden": (
        "slicing",
        "listing",
        "first_slice",
        "as_of_axis",
        "incremental_axis",
        "read_time",
        "completion_time",
        "plan_takes",
    ),
    "merged": ("tombstones", "fold", "plan_takes", "merge_order", "services"),
    "pending": ("visibility", "plan_takes", "completion_time"),
    "read": (
        "visibility",
        "fold",
        "merge_order",
        "completion_time",
        "as_of_axis",
        "incremental_axis",
        "tombstones",
        "services",
    ),
}
"""Status of the file -> the options that can cause it, the likeliest first."""
