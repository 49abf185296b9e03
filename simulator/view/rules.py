"""What each weaker choice of a protocol does to a file, in words: a new weak choice is one more row of `RULES`."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """What a weaker choice did to a file, and what the default does.

    {r}, {c}: the file's times, {b}: barrier or base, {other}, {o}, {seen}, {at}: the other row and its times,
    {T}: as of.
    """

    did: str
    right: str


# fmt: off
RULES: dict[str, Rule] = {
    "slicing=requested": Rule(
        "Sliced by requested time, t{r} < barrier t{b}: it counts as replaced by base t{b}, which never took it, for "
        "it had not completed.",
        "sliced by completion time, t{c} > barrier t{b}: the log lies in slice t{b}"),
    "slicing=base_instant": Rule(
        "Sliced by the base instant in its name, looked up before plan t{b} was made: it counts as replaced by "
        "base t{b}, which never took it.",
        "sliced by completion time, t{c} > barrier t{b}: the log lies in slice t{b}"),
    "tombstones=drop": Rule(
        "Compaction t{b} took the delete and dropped it: base t{b} holds nothing that outranks {other}.",
        "compaction keeps the delete beside base t{b}, where it outranks {other}"),
    "services=foreign": Rule(
        "Compaction t{b} was another engine's: it merged by requested time, and forgot its deletes.",
        "a compaction of ours merges by completion time, and keeps its deletes beside base t{b}"),
    "plan_takes=any_log": Rule(
        "Plan t{b} took the log although its write had not completed.",
        "a plan takes only what completed before its barrier"),
    "visibility=any": Rule(
        "The reader takes whatever files are there and does not ask whether their write completed.",
        "a file counts only once a completed instant lists it"),
    "merge_order=requested": Rule(
        "Merged by requested time, t{r} < t{o} of {other}, though it completed later.",
        "merged by completion time, t{c} comes last and wins"),
    "fold=logs_first": Rule(
        "Logs are merged among themselves before the base is asked, which gives another winner.",
        "base and logs are ranked together"),
    "as_of_axis=requested": Rule(
        "As of t{T} is judged by requested time t{r}, not by completion time t{c}.",
        "an as-of read counts what completed at or before its time"),
    "as_of_axis=requested_slices": Rule(
        "As of t{T} is judged by requested time t{r}, not by completion time t{c}, and by the slices there are now.",
        "an as-of read counts what completed at or before its time"),
    "first_slice=first_requested": Rule(
        "Its slice begins with the log of a write that was requested earlier and is pending: nothing of it is seen.",
        "the slice begins with what has completed; the pending log is passed over"),
    "as_of_pending=refused": Rule(
        "A write that was requested by then is pending, so the read is refused.",
        "a read at a settled time is answered whatever is pending"),
    "window_merge=slice_of_window": Rule(
        "The window merges the newest slice that its files make up, and shows what its writes set there.",
        "the window merges the logs of its writes among themselves"),
    "window_merge=slice_of_table": Rule(
        "The window merges the newest slice that begins within it, and shows what its writes set there.",
        "the window merges the logs of its writes among themselves"),
    "window_deletes=omitted": Rule(
        "The window leaves out the deletes that win in it.",
        "a window shows deletes, marked"),
    "incremental_axis=requested": Rule(
        "The window is cut by requested time t{r}, not by completion time t{c}.",
        "the window takes what completed in it"),
    "listing=once": Rule(
        "The reader's one listing saw {seen} but missed this one, completed t{c}: both came while it ran.",
        "the reader lists again and keeps all that completed up to the latest seen{at}"),
    "completion_time=outside_lock": Rule(
        "Its completion time t{c} was taken before the lock, and later times were published first.",
        "completion time and publication are under one lock, so nothing appears behind a reader's back"),
    "read_time=clock": Rule(
        "The reader read as of the clock, while t{c} was taken and not yet published.",
        "a reader reads at the greatest completion published"),
    "scheduling=serial": Rule("The plan waited until nobody was writing.", "a plan never waits for writers"),
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
"""Which choices can be what did it, by the status of the file, the likeliest first."""
