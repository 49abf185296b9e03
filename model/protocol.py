"""The protocol as a value: every choice on which promises depend; the defaults keep all of them.

A choice is looked at when rows and rules are built, never inside a step. Each weaker value is what an RFC, an older
table layout or a reader really does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any, Literal, get_args, get_type_hints

from .fields import nearest, refuse_unknown

Axis = Literal["completion", "requested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Choices of writers, planner, compactor and readers.

    slicing           the time that assigns a log to a file slice; base_instant: the name carries the barrier that the
                      writer looked up when it started to write (layout before RFC-66); temporal: RFC-66's rules of
                      what "temporally follows" what, by which a log that was under way at a barrier is in no slice
    barriers          what begins a slice: plans from when they are made; or base files alone, and then a log older than
                      the oldest of them is in no slice, a read as of a time takes one slice (RFC-66, pseudocode)
    log_layout        a write has log files of its own; or one log a slice is shared, to which everybody appends blocks,
                      and a failed write is undone by a rollback block behind them (RFC-22, option 2: what it leaves)
    rollback_block    shared: it undoes the blocks of its write wherever they stand; those before it; or those right in
                      front of it (Apache Hudi 0.14; 1.x; before 0.14)
    merge_order       the order of logs inside a slice, which decides between equal ordering values; appended: as their
                      blocks stand in the shared log
    as_of_axis        the time by which an as-of read keeps instants; requested_slices: and a pending plan that was made
                      later is a barrier as well, so that the slices that begin later hold late logs
    as_of_bound       as of T is what completed at or before T, or strictly before it (RFC-66, time travel)
    incremental_axis  the time by which an incremental window keeps writes
    checkpoint        what a consumer stores: where its window ended; the last time before the oldest write under way,
                      so that it reads what came after again (RFC-22, option 1); fenced: it reads no further (option 2)
    behind_horizon    a window that begins before the horizon is refused, or what is left of it is read
    completion_time   taken under the lock that also covers publishing, or before that lock is taken
    tombstones        whether compaction keeps deletes (event time only: commit time never needs them)
    listing           how often a reader lists the timeline before it trusts it
    read_time         a read without a time is at the greatest completion published, or at whatever the clock says
    fold              rank: base first, then logs; logs_first: logs among themselves (a compaction's tombstones are
                      one of them), the survivor meets the base once
    column_merge      partial updates: each column by the rank with which it was set; or, once several have become a
                      row in a base file, all of them by the row's rank; by_row: wherever two are merged
    merge_laws        a user's merge function: it is taken if it keeps all the laws; or one is taken that breaks one
    columns_shown     as of a time the columns that the table had then; or those of now; of_commit: those that the
                      newest commit names, by request, whether its writer knew all of them or not (Apache Hudi)
    columns_kept      a service writes the columns that the table has when it begins with its plan, or those that it
                      knew when it opened the table
    scheduling        whether a plan may be made while somebody writes
    plan_takes        completed logs only, or whatever log files are there
    clock             true_time: read under the lock, the bound on the skew waited out; time_service: everybody asks one
                      clock; local: each actor's own, nothing waited out; seconds: one clock that gives a second twice
    decision          what makes a commit: holding the lock when it is published, or the next number of a log
    claims            decision = log: an actor claims each time of an instant: it puts an object that the time names, if
                      absent; or it uses the clock reading, so that a barrier and a request may be equal
    tombstone_logs    the log with which a compaction keeps its deletes is the one that its commit lists; or any log
                      that was requested at the time of the base file
    fencing           a store takes every put; or refuses one whose lock was taken before that of a put it has seen
    uniqueness        requested times as the clock gives them, or put if absent: who finds its own taken takes the next
    visibility        whether a reader asks if a log's instant is completed; all_earlier: and every one requested
                      before; unless_pending: it asks if it is pending (what has left the timeline counts as archived)
    concurrency       how a writer gets along with others: it never looks (nbcc), it aborts if a conflicting write
                      completed since it began (occ), or it takes for granted that there are none (single_writer); in
                      a copy-on-write table, where nobody merges later, nbcc is to look at nothing, too
    conflict_check    occ: made under the lock that also covers publishing, or before that lock is taken
    conflict_window   occ: the writes that it is held against: those that completed since it began, or those requested
                      after the last one that it knew (order by start time)
    conflict_by       occ: two writes conflict in one bucket of one partition, or only in one and the same file id
    file_ids          a bucket has one file group, or whoever finds none begins one of its own
    bucket_count      a writer hashes keys into the buckets that the table says, or into as many as its options say
    conflict_reads    occ: what a write says it has read is looked at like what it writes, or not at all
    timeline          occ: what it knew when it began stays sealed, or is loaded anew with each file
    priority          occ: a compaction never aborts a writer, or whoever completes first has the file group
    early_detection   occ: whether a writer aborts already when it meets another's marker in a file group
    bulk_insert       base files only into file groups in which nothing else has completed, asked again under the lock
                      before publishing; resolved: refused as well if only its logs were overtaken, as by Hudi's
                      conflict resolution; unchecked: base files into every group, whatever is there
    failed_writes     what is rolled back: writes whose heartbeat has expired, or any that is pending
    rollback_check    whether a write is chosen for rollback under the lock that covers the plan, or before
    lost_answer       a writer that is told that its completed instant exists reads it, or reports a failure
    batch_ids         a batch that was sent again is looked for when its write is requested and before it is published;
                      when it is requested; or never
    replay_difference  a batch whose id has committed other rows is refused; or the committed rows are kept, and the
                      batch counts as written
    commit_check      whether a writer asks, before it publishes, if it was taken for dead: under the lock, or earlier
    retention         which base file lets a clean delete what is older: one complete at the horizon; one complete by
                      now with a barrier before the horizon; or any plan with such a barrier
    horizon           published with the plan of a clean, or when its files are gone
    lock_wait         a writer waits for the lock until it has it; or it gives up one day, and leaves what it has begun
    savepoint_keeps   what a clean leaves alone for a savepoint: the files that it names; base files alone; or nothing
    restore_by        a restore undoes what completed after the instant of the savepoint; or what was requested later
    restore_pending   a restore undoes what is pending as well; or leaves it to its writer
    archive_bound     archiving stops before what was requested or completed after the request of a pending instant, or
                      does not care
    archive_lookup    a reader looks into the archive after each listing; or keeps to what it knew before the first one;
                      or never looks
    lock_expiry       whether the lock of a dead holder is free again one day
    first_slice       what begins the slice without barrier: the write that completes first; or the earliest request
                      that has a log there, and while that one is pending nothing of the slice is seen
    as_of_pending     whether an as-of read at or after the request of a pending write is answered
    window_merge      what a window merges: its logs; the newest slice that its instants' files make up, base files
                      of its compactions included; or the table's newest slice that begins within it; slice_of_files:
                      the newest that the files completed in it make up, base files alone as barriers; _from: and rows
                      of writes that completed as it starts come out again (RFC-66, incremental queries)
    replacing         an overwrite hides what was before by a barrier at its request, or by the ids of the file groups
                      that it replaces, which hide what is written to them later as well (Hudi's replacecommit)
    metadata_commit   the metadata table is told of an instant before it completes in the data table, or afterwards
    metadata_lock     it is told under the lock that also covers publishing, or before that lock is taken
    metadata_again    an instant that it has already is applied again, which changes nothing, or refused
    metadata_read     a reader lists files through it once it is sure of its instants, or goes by what it listed before
    metadata_trust    of what the metadata table lists a reader believes what the data table has completed, or all of it
    log_compaction_rank    where the log of a log compaction ranks: where the newest of its inputs did, or by its own
                           completion
    log_compaction_window  windows leave that log out and go on with its inputs, or it is delivered like a write's
    clustering        a compaction that sorts, where buckets fix the file ids; or a file group of its own that takes the
                      place of the one it names, held against the writes that completed since it was planned
    window_deletes    whether a window shows the deletes that win in it
    services          a compaction is one of ours and says so; or another engine's, which merges by request, forgets
                      deletes and leaves no mark
    unmarked          a file group whose base file has no mark is merged as whoever made it goes on to merge, until a
                      compaction of ours; or by the table's rules, as if nobody else had been there
    """

    slicing: Literal["completion", "requested", "base_instant", "temporal"] = "completion"
    barriers: Literal["plans", "base_files"] = "plans"
    log_layout: Literal["own", "shared"] = "own"
    rollback_block: Literal["anywhere", "earlier", "in_front"] = "anywhere"
    merge_order: Literal["completion", "requested", "appended"] = "completion"
    as_of_axis: Literal["completion", "requested", "requested_slices"] = "completion"
    as_of_bound: Literal["at_or_before", "before"] = "at_or_before"
    incremental_axis: Axis = "completion"
    checkpoint: Literal["end_of_window", "before_pending", "fenced"] = "end_of_window"
    behind_horizon: Literal["refused", "skipped"] = "refused"
    completion_time: Literal["under_lock", "outside_lock"] = "under_lock"
    tombstones: Literal["keep", "drop"] = "keep"
    listing: Literal["twice", "once"] = "twice"
    read_time: Literal["settled", "clock"] = "settled"
    fold: Literal["rank", "logs_first"] = "rank"
    column_merge: Literal["by_column", "by_row", "by_row_in_base"] = "by_column"
    merge_laws: Literal["all", "not_idempotent", "not_commutative", "not_associative"] = "all"
    columns_shown: Literal["of_time", "of_now", "of_commit"] = "of_time"
    columns_kept: Literal["of_now", "as_opened"] = "of_now"
    scheduling: Literal["non_serial", "serial"] = "non_serial"
    plan_takes: Literal["completed_before_barrier", "any_log"] = "completed_before_barrier"
    clock: Literal["true_time", "time_service", "local", "seconds"] = "true_time"
    uniqueness: Literal["as_given", "test_and_set"] = "as_given"
    visibility: Literal["completed", "any", "all_earlier", "unless_pending"] = "completed"
    concurrency: Literal["nbcc", "occ", "single_writer"] = "nbcc"
    conflict_check: Literal["under_lock", "before_lock"] = "under_lock"
    conflict_window: Axis = "completion"
    conflict_by: Literal["bucket", "file_id"] = "bucket"
    bucket_count: Literal["of_table", "own"] = "of_table"
    conflict_reads: Literal["checked", "ignored"] = "checked"
    file_ids: Literal["fixed", "minted"] = "fixed"
    timeline: Literal["sealed", "reloaded"] = "sealed"
    priority: Literal["writer", "first"] = "writer"
    early_detection: Literal["off", "on"] = "off"
    bulk_insert: Literal["checked", "unchecked", "resolved"] = "checked"
    failed_writes: Literal["lazy", "eager"] = "lazy"
    rollback_check: Literal["under_lock", "before_lock"] = "under_lock"
    lost_answer: Literal["recognised", "reported_failed"] = "recognised"
    batch_ids: Literal["checked", "at_request", "ignored"] = "checked"
    replay_difference: Literal["refuse", "keep"] = "refuse"
    commit_check: Literal["under_lock", "before_lock", "none"] = "under_lock"
    retention: Literal["completion", "barrier", "any_barrier"] = "completion"
    horizon: Literal["before_delete", "after_delete"] = "before_delete"
    savepoint_keeps: Literal["files", "base_files", "nothing"] = "files"
    restore_by: Axis = "completion"
    restore_pending: Literal["undone", "left"] = "undone"
    archive_bound: Literal["pending", "none"] = "pending"
    archive_lookup: Literal["after_listing", "before_listing", "never"] = "after_listing"
    decision: Literal["lock", "log"] = "lock"
    claims: Literal["every_time", "none"] = "every_time"
    tombstone_logs: Literal["by_commit", "by_time"] = "by_commit"
    fencing: Literal["none", "storage"] = "none"
    lock_wait: Literal["patient", "times_out"] = "patient"
    lock_expiry: Literal["expires", "never"] = "expires"
    first_slice: Literal["first_completed", "first_requested"] = "first_completed"
    as_of_pending: Literal["answered", "refused"] = "answered"
    window_merge: Literal["logs", "slice_of_window", "slice_of_table", "slice_of_files", "slice_of_files_from"] = "logs"
    replacing: Literal["plan", "file_ids"] = "plan"
    clustering: Literal["plan", "file_ids"] = "plan"
    window_deletes: Literal["marked", "omitted"] = "marked"

    metadata_commit: Literal["before_data", "after_data"] = "before_data"
    metadata_lock: Literal["under_lock", "outside_lock"] = "under_lock"
    metadata_again: Literal["applied", "refused"] = "applied"
    metadata_read: Literal["after_timeline", "before_timeline"] = "after_timeline"
    metadata_trust: Literal["completed", "listed"] = "completed"
    log_compaction_rank: Literal["inputs", "own"] = "inputs"
    log_compaction_window: Literal["left_out", "delivered"] = "left_out"
    services: Literal["own", "foreign"] = "own"
    unmarked: Literal["by_its_maker", "by_the_table"] = "by_its_maker"

    def __hash__(self) -> int:
        # Some fields will do: every look at what a definition remembers asks for it.
        return hash((self.slicing, self.visibility, self.merge_order, self.as_of_axis))

    @property
    def shows_pending(self) -> bool:
        """Whether a reader takes rows of a write that is pending."""
        return self.visibility != "completed" or self.metadata_trust == "listed"

    @property
    def sees_pending(self) -> bool:
        """Whether what a reader is told depends on writes that are pending."""
        return self.shows_pending or self.first_slice == "first_requested" or self.as_of_pending == "refused"

    def __post_init__(self) -> None:
        if self.decision == "log" and self.concurrency == "occ":
            raise ValueError("protocol: decision = 'log' is modelled for concurrency = 'nbcc', not for 'occ'")
        if self.decision == "log" and (self.metadata_commit, self.metadata_lock) != ("before_data", "under_lock"):
            raise ValueError("protocol: decision = 'log' is modelled with a metadata table that is told under the lock")
        for name, allowed in choices().items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"protocol: {name} = {value!r}; {nearest(str(value), allowed)}")

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Protocol:
        """A protocol from field names to values; ValueError names the nearest field or value."""
        refuse_unknown(given, choices(), "protocol")
        return cls(**given)

    def to_mapping(self) -> dict[str, str]:
        """Every field, also those that have their default."""
        return asdict(self)

    def differences(self) -> dict[str, str]:
        """The fields that differ from the protocol that keeps every promise."""
        standard = Protocol().to_mapping()
        return {name: value for name, value in self.to_mapping().items() if value != standard[name]}


@cache
def choices() -> dict[str, tuple[str, ...]]:
    """Field name -> the values it may take, the default first."""
    hints = get_type_hints(Protocol)
    return {field.name: get_args(hints[field.name]) for field in fields(Protocol)}
