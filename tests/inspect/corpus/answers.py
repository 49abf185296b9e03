"""What readers answer about each kind of damage, and what `nbcc validate` advises: recorded, and shown on a page.

hudi-rs and the engine are asked by every test run. Apache Hudi 1.2.0 is asked by tests/interop/test_damage.py, and its
answers are recorded as they were seen.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any, Final

from nbcc.engine.errors import NbccError
from nbcc.engine.storage import open_storage
from nbcc.simulator.audit import validate
from tools.markdown import table

from .kinds import KINDS
from .readers import Rows, answer, by_hudi_rs, by_nbcc
from .tables import TABLES

RECORDED: Final = Path(__file__).with_name("answers.json")
NOW: Final = "20270101000000000"
"""A time after all writes of the tables, so that an abandoned write is old."""
PAGE: Final = Path(__file__).parents[3] / "docs" / "damage.md"

_INTRODUCTION: Final = """# What damage does to a table

Each row is one kind of damage to a healthy table of Apache Hudi or of nbcc, and what a snapshot then returns: the
`right` rows, `other rows`, or it `lacks rows` or `fails`. Apache Hudi is 1.2.0 on Spark with its defaults, hudi-rs is
0.5. The last columns are what `nbcc validate` reports, the promises that it calls BROKEN, and what it advises. A reader
may be right by luck: the rows of a lost file can be in another file, too. `nbcc explain NAME` explains a diagnostic.

This page is generated from the corpus in tests/inspect/corpus, which every test run repeats.
"""


def recorded() -> dict[str, dict[str, str]]:
    """The recorded answers of each kind by reader, and the advice."""
    found: dict[str, dict[str, str]] = json.loads(RECORDED.read_text("utf-8"))
    return found


@cache
def right_rows(table_name: str) -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        TABLES[table_name](Path(folder) / "t")
        return by_hudi_rs(Path(folder) / "t")


def advice_of(folder: Path, deep: bool) -> str:
    """The remedies that are printed about a broken table, without its times and names."""
    try:
        report = validate(open_storage(folder), opened=deep, now=NOW)
    except NbccError as refused:
        return refused.remedy
    remedies = dict.fromkeys(d.remedy.replace("{table}", "TABLE") for d in report.diagnostics)
    return "; ".join(dict.fromkeys(_without_names(remedy) for remedy in remedies))


def _without_names(remedy: str) -> str:
    return " ".join("…" if any(c.isdigit() for c in word) else word for word in remedy.split())


def answers_of(name: str, folder: Path) -> dict[str, str]:
    """The answers of hudi-rs, of the engine and of `validate` about a broken table; that of Hudi as recorded."""
    kind = KINDS[name]
    right = right_rows(kind.table)
    with warnings.catch_warnings(action="ignore"):
        ours = answer(by_nbcc, folder, right)
    return {
        "nbcc": ours,
        "hudi_rs": answer(by_hudi_rs, folder, right),
        "hudi": recorded().get(name, {}).get("hudi", "not asked"),
        "advice": advice_of(folder, kind.deep),
    }


def record() -> None:
    """Ask all readers but Hudi again, and write the record and the page."""
    answers: dict[str, Any] = {}
    for name, kind in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            kind.do(TABLES[kind.table](Path(folder) / "t"))
            answers[name] = answers_of(name, Path(folder) / "t")
    write(answers)


def write(answers: dict[str, Any]) -> None:
    RECORDED.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(), "utf-8")


def page() -> str:
    """Return docs/damage.md."""
    answers = recorded()
    rows = (
        (name, kind.table, answers[name]["hudi"], answers[name]["hudi_rs"], answers[name]["nbcc"],
         f"{kind.expected_verdict} {kind.rule}".strip(), kind.promises or "–", answers[name]["advice"] or "–")
        for name, kind in KINDS.items()
    )  # fmt: skip
    heads = ("damage", "table", "Apache Hudi", "hudi-rs", "nbcc", "validate", "BROKEN", "advice")
    return "\n".join([_INTRODUCTION, *table(heads, rows), ""])
