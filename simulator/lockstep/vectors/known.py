"""Engines that are known to answer some reads otherwise than the model, with the rule by which each does."""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol, Query

from ... import specs
from ..crosscheck.foreign import foreign_rows, rule_of_difference
from ..crosscheck.history import PlayedHistory
from ..crosscheck.readers import AS_HUDI_RS, COMMITS, difference_of_hudi_rs, has_archived, not_predicted

HUDI_RS: Final = "hudi-rs 0.5.0"
HUDI: Final = "Apache Hudi 1.2.0"
KINDS: Final = ("snapshot", "as_of", "incremental")


def not_compared(history: PlayedHistory) -> dict[str, str]:
    """Return, by engine, the reason why the model cannot predict its answers for this history."""
    reason = not_predicted(history)
    return {HUDI_RS: reason, HUDI: reason} if reason else {}


def known_differences(history: PlayedHistory, query: Query, answer: tuple[Any, ...], table: Path) -> dict[str, str]:
    """Return, by engine, the rule by which it answers a read otherwise than the model, which answers `answer`."""
    if query.kind not in KINDS or not_predicted(history):
        return {}
    rules = {HUDI_RS: _of_hudi_rs(history, query, answer, table), HUDI: _of_hudi(history, query, answer)}
    return {engine: rule for engine, rule in rules.items() if rule}


def _of_hudi_rs(history: PlayedHistory, query: Query, answer: tuple[Any, ...], table: Path) -> str:
    return difference_of_hudi_rs(history, table, query) or _rule(history, query, answer, AS_HUDI_RS)


def _of_hudi(history: PlayedHistory, query: Query, answer: tuple[Any, ...]) -> str:
    # Hudi refuses an as-of read behind a pending commit, also if the read misses no row of it.
    pending = [start for action, _, start, done in history.timeline if done is None and action in COMMITS]
    if query.kind == "as_of" and min(pending, default=inf) <= (query.until or 0):
        return "as_of_pending = refused"
    if query.kind == "incremental" and (query.after or 0) < _first_active(history):
        rows = _state_at_the_end(history, query)
        if rows != foreign_rows(history.model, history.state, query, history.data, _as_hudi()):
            return "" if rows == answer else "it reads the state at the end of the window"
    return _rule(history, query, answer, _as_hudi())


def _first_active(history: PlayedHistory) -> int:
    """The completion time at which the active timeline begins; 0 if nothing is archived."""
    active = [done for _, _, _, done in history.timeline if done is not None]
    return min(active, default=0) if has_archived(history) else 0


def _state_at_the_end(history: PlayedHistory, query: Query) -> tuple[Any, ...]:
    """The rows of Hudi's as-of read at the end of a window that were written in the window. Hudi answers so if a window
    begins before its active timeline.
    """
    model, state = history.model, history.state
    done = {each.requested: each.completed for each in model.component(state, "published")}
    rows = foreign_rows(model, state, Query("as_of", until=query.until), history.data, _as_hudi())
    return tuple(row for row in rows if (query.after or 0) < done[row[3]] <= (query.until or inf))


@cache
def _as_hudi() -> Protocol:
    """Apache Hudi as a reader of nbcc's tables, in which a log of the compaction's instant has the deletes that it
    kept, and a log compaction has an instant of its own in a window. Tables of Hudi have no such log and no log
    compaction of nbcc, so that Hudi's protocol has no option for either.
    """
    return specs.protocol("hudi-1.2.0").replace(fold="logs_first", log_compaction_window="included")


def _rule(history: PlayedHistory, query: Query, answer: tuple[Any, ...], reader: Protocol) -> str:
    model, state, data = history.model, history.state, history.data
    if foreign_rows(model, state, query, data, reader) == answer:
        return ""
    return rule_of_difference(model, state, query, data, reader)
