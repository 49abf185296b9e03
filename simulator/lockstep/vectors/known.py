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
from ..crosscheck.readers import AS_HUDI_RS, COMMITS, difference_of_hudi_rs, not_predicted

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
    pending = [start for action, _, start, done in history.timeline if done is None and action in COMMITS]
    if query.kind == "as_of" and min(pending, default=inf) <= (query.until or 0):
        return "as_of_pending = refused"
    return _rule(history, query, answer, _as_hudi())


@cache
def _as_hudi() -> Protocol:
    """Apache Hudi as a reader of nbcc's tables, in which a log of the compaction's instant has the deletes that it
    kept. Tables that Hudi compacted have no such log, so that Hudi's protocol has no option for it.
    """
    return specs.protocol("hudi-1.2.0").replace(fold="logs_first")


def _rule(history: PlayedHistory, query: Query, answer: tuple[Any, ...], reader: Protocol) -> str:
    model, state, data = history.model, history.state, history.data
    if foreign_rows(model, state, query, data, reader) == answer:
        return ""
    return rule_of_difference(model, state, query, data, reader)
