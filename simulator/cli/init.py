"""`nbcc init`: writes a test of one's own table and a workflow that runs it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from .command import debug_option, echo
from .outcome import Exit

FILES: Final = {
    "test_my_table.py": "test_my_table.py.template",
    ".github/workflows/nbcc.yml": "nbcc.yml.template",
}
"""File to write -> its template in specs/templates."""


@click.command(short_help="Write a test of your own table, and a workflow that runs it.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@debug_option
def command(folder: Path) -> Exit:
    """Write two files into FOLDER (default: here), and overwrite none.

    test_my_table.py has a table in 90 lines and its comparison with the model: replace the table by yours.
    .github/workflows/nbcc.yml runs the test on GitHub, and replays the traces that have once failed.

    \b
    Examples:
      nbcc init
      pytest test_my_table.py
      nbcc replay traces --on test_my_table:MyTable --expect agreed
    """
    targets = {folder / name: template for name, template in FILES.items()}
    if there := next((path for path in targets if path.exists()), None):
        raise click.UsageError(f"{there} exists: choose another folder, or move the file away")
    for path, template in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((files("nbcc") / "specs" / "templates" / template).read_text("utf-8"), encoding="utf-8")
        echo(f"wrote {path}")
    echo("now: pytest test_my_table.py")
    return Exit.AGREES
