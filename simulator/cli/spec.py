"""`nbcc spec`: writes the specification of a protocol as a page, and its differences from another one."""

from __future__ import annotations

from pathlib import Path

import click

from . import names
from .command import Teaching, debug_option, echo, module_option, users_words
from .outcome import Exit


@click.command(cls=Teaching, short_help="The specification of a protocol as a page.")
@click.option("--protocol", default="default", show_default=True, shell_complete=names.completes("protocols"),
              help="Name (`nbcc list protocols`) or .toml file of the protocol.")  # fmt: skip
@click.option("--diff", "other", metavar="NAME", help="Also write a page of what this protocol does otherwise.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
              help="Folder of the pages; those of an earlier run are replaced.")  # fmt: skip
@module_option
@debug_option
def command(*, protocol: str, other: str | None, out: Path) -> Exit:
    """Write the specification of a protocol: its words, its actors with every step, its rules with their code, and the
    promises, as one page that needs no network. Everything on it is computed from the model.

    \b
    Examples:
      nbcc spec --out spec
      nbcc spec --protocol default --diff hudi-1.2.0 --out spec
    """
    from nbcc.simulator import specs
    from nbcc.simulator.view.spec.write import write

    with users_words():
        pages = write(out, protocol, specs.protocol(protocol), other, specs.protocol(other) if other else None)
    echo(*(str(page) for page in pages))
    return Exit.AGREES
