"""Which view of a history a function takes is its type: mypy refuses a view that lacks instants."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

CALLS = """
from nbcc.engine.context import Context
from nbcc.engine.files.slices import all_slices, load_slices
from nbcc.engine.reads.tasks import slices_as_of
from nbcc.engine.services.plan import current_slices


def call(context: Context) -> None:
    storage, commits, rules, history = context.storage, context.commits, context.rules, context.history()
    all_slices(storage, history.whole, commits, rules)
    load_slices(storage, history.current, commits, rules)
    current_slices(context, history.whole, rules)
    slices_as_of(context, history.whole.until("20260101000000000"))
    all_slices(storage, history.current, commits, rules)  # refused
    load_slices(storage, history.active, commits, rules)  # refused
    current_slices(context, history.active, rules)  # refused
    slices_as_of(context, history.current)  # refused
"""


def test_mypy_refuses_a_view_that_lacks_instants(tmp_path: Path) -> None:
    module = tmp_path / "calls.py"
    module.write_text(CALLS)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(module)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = [int(line) for line in re.findall(r"calls\.py:(\d+): error: .*\[arg-type\]", found.stdout)]
    assert refused == [n for n, line in enumerate(CALLS.splitlines(), 1) if line.endswith("# refused")], found.stdout
