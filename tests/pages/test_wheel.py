"""What `pip install nbcc` gives: real folders, package data, a command, and light imports."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path, PurePath

from .conftest import ROOT, Installed

OPENED_BY = {
    "findings/*.json": "simulator/lockstep/findings.py",
    "findings/*.toml": "simulator/lockstep/findings.py",
    "footprints.json": "simulator/search/footprint.py",
    "glossary.toml": "simulator/glossary.py",
    "hudi_options.toml": "simulator/search/options.py",
    "kills.json": "simulator/search/verdicts/kills.py",
    "locks.json": "simulator/search/verdicts/lock_data.py",
    "locks.toml": "simulator/search/verdicts/locks.py",
    "mutants/*.toml": "simulator/search/mutants.py",
    "proofs.json": "simulator/search/prove/evidence.py",
    "protocols/*.toml": "simulator/specs.py",
    "sizes.toml": "simulator/search/verdicts/search_bounds.py",
    "traces/*.json": "simulator/cli/replay.py",
    "verdicts.json": "simulator/search/verdicts/data.py",
    "templates/*.template": "simulator/cli/init.py",
    "verdicts.toml": "simulator/search/verdicts/search_bounds.py",
    "workload/accesses.json": "simulator/workload/costs.py",
    "workload/calibration.json": "simulator/workload/costs.py",
    "workload/scenarios/*.toml": "simulator/workload/scenario.py",
    "workload/stores.toml": "simulator/workload/costs.py",
    "worlds/*.toml": "simulator/specs.py",
}
"""Files below specs/ in the wheel -> the code that opens them."""
FOR_USERS = {"schemas/*.json": "docs/formats.md"}
"""Files below specs/ in the wheel that only users' tools open -> the page that names each of them."""
MOST_BYTES = 1_300_000

IMPORTED = "import sys; {}; print(sorted({{name.partition('.')[0] for name in sys.modules}} & {{{}}}))"


def test_the_wheel_holds_the_real_folders(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for package, kind in (("model", "py"), ("engine", "py"), ("simulator", "py"), ("specs/worlds", "toml")):
        ours = {f"nbcc/{path.relative_to(ROOT)}" for path in (ROOT / package).rglob(f"*.{kind}")}
        assert ours
        assert ours <= names
    assert {"nbcc/__init__.py", "nbcc/py.typed"} <= names
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"nbcc", "pyspark_nbcc"}


def test_the_wheel_holds_only_specs_that_its_code_opens(wheel: Path) -> None:
    specs = {file.filename: file.file_size for file in zipfile.ZipFile(wheel).infolist() if "/specs/" in file.filename}
    names = {name.removeprefix("nbcc/specs/") for name in specs}
    assert sum(specs.values()) <= MOST_BYTES
    wanted = {**OPENED_BY, **FOR_USERS}
    assert [name for name in sorted(names) if not any(PurePath(name).match(each) for each in wanted)] == []
    for pattern, page in FOR_USERS.items():
        found = [name for name in names if PurePath(name).match(pattern)]
        assert found, f"the wheel has no {pattern}"
        assert [name for name in found if f"specs/{name}" not in (ROOT / page).read_text("utf-8")] == []
    for pattern, module in OPENED_BY.items():
        assert any(PurePath(name).match(pattern) for name in names), f"the wheel has no {pattern}"
        *folders, name = pattern.split("/")
        word = name if "*" not in name else folders[-1]
        code = (ROOT / module).read_text("utf-8")
        assert f'"{word}"' in code or '"specs" / kind' in code, f"{module} does not open {pattern}"


def test_the_model_needs_nothing_installed(installed: Installed) -> None:
    ran = subprocess.run(
        [str(installed.bare / "bin/python"), "-c", "import nbcc, nbcc.model; print(nbcc.model.Model.__name__)"],
        cwd=installed.elsewhere, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == "Model\n"


def test_the_installed_package_is_the_one_that_runs(installed: Installed) -> None:
    ran = installed.run("python -c 'import nbcc.model, nbcc.engine; print(nbcc.model.__file__, nbcc.engine.__file__)'")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count(str(installed.full)) == 2


def test_importing_nbcc_is_light(installed: Installed) -> None:
    heavy = "'pyspark', 'hypothesis', 'pyarrow', 'hudi'"
    ran = installed.run(f'python -c "{IMPORTED.format("import nbcc", heavy)}"')
    assert ran.stdout == "[]\n", ran.stderr


def test_the_command_line_imports_spark_and_hypothesis_only_where_needed(installed: Installed) -> None:
    heavy = "'pyspark', 'hypothesis', 'hudi'"
    for arguments in (["--help"], ["list", "worlds"], ["check", "--help"], ["explore", "demo"]):
        run = f"from nbcc.simulator.cli import main; assert main.run({arguments}) == 0"
        ran = installed.run(f'python -c "{IMPORTED.format(run, heavy)}"')
        assert ran.stdout.splitlines()[-1] == "[]", (arguments, ran.stderr)


def test_the_names_of_worlds_come_with_the_package(installed: Installed) -> None:
    ran = installed.run("nbcc list worlds")
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[0] for line in ran.stdout.splitlines() if not line.startswith(" ")] == sorted(
        path.stem for path in (ROOT / "specs" / "worlds").glob("*.toml")
    )
