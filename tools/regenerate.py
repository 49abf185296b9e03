"""Writes the generated files again: `python -m tools.regenerate [NAME ...]`; without names all quick ones.

    accesses     specs/workload/accesses.json: the requests of the engine's operations, recorded from the engine
    detection    the figures in docs/validate.md, from tools/detection/figures.json
    findings     specs/findings/*.md
    footprints   specs/footprints.json: the options that each world of the matrix reads; some minutes
    gallery      specs/traces: traces, pictures, texts and both indexes
    hudi-calls   docs/hudi-calls.md, from specs/hudi-calls.json; `python -m tools.hudi_calls` runs Hudi for it
    hudi-options docs/hudi-options.md, from the table of options in the engine
    kills        specs/kills.json, the pages of kills-page, of mutants whose kills have changed; minutes to hours
    killed       what recorded runs with kills have shown, in docs/locks.md and docs/streams.md
    kills-page   specs/kills.md, engine-kills.md and bugs.md, from the accepted kills
    mechanisms   docs/mechanisms.md
    proofs       specs/proofs.json, by a run of the prover; a minute or more
    speed        the tables of docs/speed.md and locks.md that have a recorded run, from benchmarks/recorded
    statements   docs/statements.md, from specs/statements.toml
    schemas      specs/schemas: JSON Schemas of worlds, protocols, scenarios and traces, from their loaders
    writers      the tables and pictures of docs/how-many-writers.md, from the figures in specs/workload
    writers-all  the same with its figures, by sweeps of the simulation; minutes
    verdicts     specs/verdicts.md, from the accepted matrices, locks and proofs; `nbcc verdicts --accept` writes them

`--check` writes nothing and exits with 1 if a file is stale. `python -m tools.detection` records the figures of
`nbcc validate`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from nbcc.model.validation import nearest

ROOT: Final = Path(__file__).resolve().parents[1]
Files = Mapping[Path, str | None]
"""Path -> the text that the file should have; None: the file should not exist."""


def accesses() -> Files:
    from .accesses import PATH, text

    return {PATH: text()}


def detection() -> Files:
    from .detection.figures import PAGE, page

    return {PAGE: page()}


def findings() -> Files:
    from nbcc.simulator.lockstep.findings import FOLDER

    from .findings import pages, stale

    texts = pages()
    return {FOLDER / name: texts.get(name) for name in {*texts, *stale()}}


def footprints() -> Files:
    from nbcc.simulator.search.footprint import path
    from nbcc.simulator.search.verdicts.judge import worlds_of

    from .footprints import text

    return {path(): text(worlds_of("default", "quick"))}


def gallery() -> Files:
    from .gallery import catalogue, files_of, found
    from .gallery.files import FOLDER, stale_files

    texts = files_of(found(catalogue()))
    return {FOLDER / name: texts.get(name) for name in {*texts, *stale_files(texts)}}


def change_rows() -> Files:
    from .change_rows import PAGE, page

    return {PAGE: page()}


def hudi_calls() -> Files:
    from .hudi_calls.summary import PAGE, load, page

    return {PAGE: page(load())}


def hudi_options() -> Files:
    from .hudi_options import page

    return {ROOT / "docs" / "hudi-options.md": page()}


def glossary() -> Files:
    from .glossary import page

    return {ROOT / "docs" / "glossary.md": page()}


def mechanisms() -> Files:
    from .mechanisms import page

    return {ROOT / "docs" / "mechanisms.md": page()}


def kills() -> Files:
    from .kills import kill_all, new_promises, still_good
    from .kills_page import files

    return files(kill_all(known=still_good(), new=new_promises()))


def killed() -> Files:
    from .killed import pages

    return pages()


def kills_page() -> Files:
    from nbcc.simulator.search.verdicts.kills import accepted

    from .kills_page import pages

    return pages(accepted())


def proofs() -> Files:
    from .proofs import PATH, text

    return {PATH: text()}


def speed() -> Files:
    from .speed_page import LOCKS, PAGE, page

    return {path: page(path) for path in (PAGE, LOCKS)}


def statements() -> Files:
    from .statements import page

    return {ROOT / "docs" / "statements.md": page()}


def schema_files() -> Files:
    from nbcc.simulator.schemas import schemas

    folder = ROOT / "specs" / "schemas"
    return {folder / f"{name}.json": _in_lines(each) for name, each in schemas().items()}


def _in_lines(schema: dict[str, Any]) -> str:
    """Return a schema as JSON with a line for each property, or for each answer."""
    inner = "properties" if "properties" in schema else "$defs"
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in schema[inner].items())
    rest = [f" {json.dumps(name)}: {json.dumps(each)}" for name, each in schema.items() if name != inner]
    return "{\n" + ",\n".join([*rest, f' "{inner}": {{\n{lines}\n }}']) + "\n}\n"


def two_pipelines() -> Files:
    from .two_pipelines import picture

    return {ROOT / "docs" / "two-pipelines.svg": picture()}


def writers() -> Files:
    from .writers import files

    return files(measure=False)


def writers_all() -> Files:
    from .writers import files

    return files(measure=True)


def verdicts() -> Files:
    from .verdicts_page import page, page_path

    return {page_path(): page()}


GENERATORS: Final[Mapping[str, Callable[[], Files]]] = {
    "accesses": accesses,
    "change-rows": change_rows,
    "detection": detection,
    "findings": findings,
    "footprints": footprints,
    "gallery": gallery,
    "glossary": glossary,
    "hudi-calls": hudi_calls,
    "hudi-options": hudi_options,
    "killed": killed,
    "kills": kills,
    "kills-page": kills_page,
    "mechanisms": mechanisms,
    "proofs": proofs,
    "schemas": schema_files,
    "speed": speed,
    "statements": statements,
    "two-pipelines": two_pipelines,
    "verdicts": verdicts,
    "writers": writers,
    "writers-all": writers_all,
}
SLOW: Final = ("footprints", "kills", "proofs", "writers-all")
"""Generators that run only by name."""


def stale(files: Files) -> list[Path]:
    """Return the files whose text differs from the generated text."""
    return sorted(path for path, text in files.items() if text != (path.read_text("utf-8") if path.exists() else None))


def main(arguments: list[str] | None = None) -> int:
    """The exit code is 1 if, with `--check`, a file is stale."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.regenerate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GENERATORS))
    parser.add_argument("--check", action="store_true", help="write nothing, print the stale files")
    args = parser.parse_args(arguments)
    if unknown := [name for name in args.names if name not in GENERATORS]:
        parser.error(f"nothing is called {unknown[0]!r}; {nearest(unknown[0], tuple(GENERATORS))}")
    found_stale = False
    for name in args.names or [name for name in GENERATORS if name not in SLOW]:
        files = GENERATORS[name]()
        for path in stale(files):
            found_stale = True
            print(f"{'stale' if args.check else 'wrote'}: {path.relative_to(ROOT)}")
            if not args.check:
                _write(path, files[path])
    return int(args.check and found_stale)


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
