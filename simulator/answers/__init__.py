"""The answer of each command with ``--json``, as a type. `schemas` derives the JSON Schema of an answer from its type,
and a test compares the schema with what the commands print.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nbcc.engine.audit.stats import Stats

from . import searches, tables

ANSWERS: Final[Mapping[str, Any]] = {
    "check": searches.CheckAnswer,
    "doctor": searches.DoctorAnswer,
    "explain": searches.ExplainAnswer,
    "explore": searches.ExploreAnswer,
    "fill": searches.FillAnswer,
    "incident": tables.IncidentAnswer,
    "inspect": tables.InspectAnswer,
    "judge": searches.JudgeAnswer,
    "list": dict[str, list[searches.NamedAnswer]],
    "prove": searches.ProveAnswer,
    "replay": searches.ReplayAnswer,
    "serve": tables.ServeAnswer,
    "simulate": searches.SimulateAnswer,
    **{f"table {name}": tables.ServiceAnswer for name in ("archive", "clean", "cluster", "resize", "savepoint")},
    "table compact": tables.CompactAnswer,
    "table convert": tables.ConvertAnswer,
    "table index": tables.IndexAnswer,
    "table copy": tables.CopiedTable,
    "table log-compact": tables.LogCompactAnswer,
    "table orphans": tables.OrphansAnswer,
    "table partitions": tables.PartitionsAnswer,
    "table plans": tables.PlansAnswer,
    "table quarantine": tables.QuarantineAnswer,
    "table restore": tables.UndoAnswer,
    "table retime": tables.RetimeAnswer,
    "table rewrite": tables.RewriteAnswer,
    "table rollback": tables.UndoAnswer,
    "table stats": Stats,
    "table timeline": tables.TimelineAnswer,
    "validate": tables.ValidateAnswer,
    "verdicts": searches.VerdictsAnswer,
    "why": tables.WhyAnswer,
}
"""Command -> the type of its answer, without the field `format`."""
