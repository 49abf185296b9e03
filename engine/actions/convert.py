"""Changes how the commits of a table are decided (`nbcc.decision`), while no process writes to it.

The conversion first puts an entry into the decision log that names the new decision. A process that has opened the
table before, and commits by the log, finds this entry and raises `Conflict`. The properties are replaced after it, so
an interrupted conversion is repeated. Under `nbcc.decision=lock` a process does not read the log: one that has opened
the table before must be ended first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from ..config import TableConfig, to_properties
from ..config.coordination import Decides, Publishes
from ..config.options import DECISION, PUBLICATION
from ..config.properties import encode_properties
from ..context import Context
from ..definition.load import PROPERTIES, load_properties, open_table
from ..errors import BadInput, Conflict, Unsupported
from ..storage.conditional import ConditionalStorage, conditional_object
from ..timeline.announcements import announced_instants
from ..timeline.cuts import is_cut
from ..timeline.decisions import LogEntry, last_entry, put_entry, unpublished
from ..writes.claims import advance_clock
from ..writes.decision_log import NOTHING, in_order
from ..writes.unlocked_request import put_floor, read_floor


def run(context: Context, config: TableConfig, decision: str, publication: str = "ascending") -> bool:
    """Change the option nbcc.decision of the table to `decision`: "lock", "log", "shared" or "free", and the option
    nbcc.publication to `publication`: "ascending", or "parallel" with "free" alone. Returns False if the table has
    these values already.

    No process may write to the table meanwhile. Raises `Conflict` if an instant is pending or announced, if an entry of
    the decision log is not published, or if another process writes; `LockTimeout` if another process holds the lock.
    Processes that have opened the table before must open it again, readers too if the publication changes. Apache
    Hudi's writers share only tables with "lock", and its readers refuse tables with "parallel".
    """
    config.check_writable()
    decides = next((each for each in get_args(Decides) if each == decision), None)
    if decides is None:
        raise BadInput(f"convert the table to {DECISION}={decision!r}", "it is lock, log, shared or free", "use one")
    publishes = next((each for each in get_args(Publishes) if each == publication), None)
    if publishes is None or (publishes == "parallel" and decides != "free"):
        needed = f"it is ascending, or with {DECISION}=free also parallel"
        raise BadInput(f"convert the table to {PUBLICATION}={publication!r}", needed, "use one of them")
    asked = f"convert the table to {DECISION}={decision}"
    with in_order(context):
        last = last_entry(context.storage) or NOTHING
        # Not the config of this process, which may have opened the table before its index was made.
        stored = open_table(context.storage)
        if stored.record_index is not None:
            raise Unsupported(asked, "writers look under the lock for keys of its record index", "copy it (Table.copy)")
        # After an interrupted conversion no process commits any more, and pending writes are rolled back afterwards.
        agreed = replace(stored.coordination, decision=decides, publication=publishes)
        is_interrupted = last.decision not in ("", stored.coordination.mode)
        if stored.coordination.mode == agreed.mode and not is_interrupted:
            return False
        if not is_interrupted:
            _refuse_writers(context, asked)
        if unpublished(context.storage, last):
            raise _busy(asked, f"the entry {last.number} of the decision log is not published", "run a rollback")
        # Before the properties: a process that still commits by the old decision has to find this entry first.
        _put_entry(context, last, agreed.mode, asked)
        if not is_interrupted:
            _refuse_writers(context, asked)
        converted = replace(stored, coordination=agreed)
        # The two kinds of tables store the floor in different objects, and it must not fall by the conversion.
        put_floor(replace(context, rules=replace(context.rules, decision=decides)), read_floor(context))
        _replace_properties(context, to_properties(stored), to_properties(converted), asked)
    return True


def _refuse_writers(context: Context, asked: str) -> None:
    pending = context.without_late_states(context.active()).pending
    if pending:
        exists = f"the {pending[0].action} requested at {pending[0].requested} is pending"
        raise _busy(asked, exists, "wait for its writer, or roll it back; run a pending plan (compact)")
    if announced := announced_instants(context.storage):
        exists = f"the {announced[0].action} requested at {announced[0].requested} is announced"
        raise _busy(asked, exists, "run a rollback, which also decides what writers that died have announced")


def _put_entry(context: Context, last: LogEntry, mode: str, asked: str) -> None:
    """Put the entry that names the new decision and publication. Its time is later than all times of the table, and all
    clocks pass it.
    """
    advance_clock(context, context.active())
    if last.time:
        context.clock.not_before(last.time)
    time = context.clock.take()
    entry = LogEntry(last.number + 1, (), time, last.number + 1, max(last.floor, read_floor(context)), mode)
    if not put_entry(context.storage, entry) or is_cut(context.storage, entry.number):
        raise _busy(asked, "another process has just put an entry into the decision log", "end it")
    context.clock.not_before(entry.time)
    context.clock.take()


def _replace_properties(context: Context, old: dict[str, str], new: dict[str, str], asked: str) -> None:
    """Change those properties that differ between the two configurations."""
    properties = None
    if isinstance(context.storage, ConditionalStorage):
        properties = conditional_object(context.storage, PROPERTIES)
    known = properties.read() if properties is not None else None
    values = {name: value for name, value in load_properties(context.storage).items() if new.get(name) == old.get(name)}
    data = encode_properties({**values, **{name: value for name, value in new.items() if old.get(name) != value}})
    if properties is None:
        context.storage.put(PROPERTIES, data)
    elif properties.write(data, known) is None:
        raise _busy(asked, "another process has just changed the properties", "convert it again")


def _busy(asked: str, exists: str, remedy: str) -> Conflict:
    return Conflict(asked, f"{exists}, and no process may write meanwhile", remedy)
