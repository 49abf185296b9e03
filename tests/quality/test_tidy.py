"""The house's own style, as a test: sizes, what may be printed, imported or named. Each rule is seen red below."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders.sources import ROOT, sources, tracked

MODULE_LINES = 350
FUNCTION_LINES = 60
HOME = "/" + "root/"
# A path of one machine: a user's home, or the place of this checkout.
MACHINE_PATHS = (HOME, "/" + "home/", "/" + "Users/", f"{ROOT}/")


def too_long(text: str) -> Iterator[str]:
    lines = text.count("\n")
    if lines > MODULE_LINES:
        yield f"{lines} lines, at most {MODULE_LINES}: one concept a file"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{node.name} has {length} lines, at most {FUNCTION_LINES}"


def prints(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield f"line {node.lineno} prints; only the command line speaks"


def imports(text: str) -> Iterator[ast.Import | ast.ImportFrom]:
    yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom))


def outside_standard_library(text: str) -> Iterator[str]:
    for node in imports(text):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [] if node.level else [node.module or ""]
        for name in names:
            if name.partition(".")[0] not in sys.stdlib_module_names:
                yield f"line {node.lineno} imports {name}, which is not of the standard library"


def absolute_imports_of_ours(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").partition(".")[0] == "nbcc":
            yield f"line {node.lineno} imports {node.module} by its full name; inside a package imports are relative"


def imports_of_tests(text: str) -> Iterator[str]:
    for node in imports(text):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        if any(name.rpartition(".")[2].startswith("test_") for name in names):
            yield f"line {node.lineno} imports a test; what tests share is in tests/builders"


def unannotated_future(text: str) -> Iterator[str]:
    if text.strip() and "from __future__ import annotations" not in text and len(ast.parse(text).body) > 1:
        yield "has no 'from __future__ import annotations'"


def complaints(paths: list[Path], rule: Callable[[str], Iterator[str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}: {complaint}" for path in paths for complaint in rule(path.read_text("utf-8"))]


def test_modules_and_functions_are_short() -> None:
    assert (
        complaints(sources("model", "engine", "simulator", "nbcc", "pyspark_nbcc", "benchmarks", "tests"), too_long)
        == []
    )


def test_model_and_engine_print_nothing() -> None:
    assert complaints(sources("model", "engine"), prints) == []


def test_the_model_imports_only_the_standard_library() -> None:
    assert complaints(sources("model"), outside_standard_library) == []


def test_imports_inside_a_package_are_relative() -> None:
    assert complaints(sources("model", "engine"), absolute_imports_of_ours) == []


def test_no_test_imports_a_test() -> None:
    assert complaints(sources("tests"), imports_of_tests) == []


def test_annotations_are_never_evaluated() -> None:
    assert complaints(sources("model", "engine", "simulator", "nbcc"), unannotated_future) == []


def test_no_path_of_one_machine() -> None:
    suffixes = {".py", ".md", ".toml", ".json", ".ipynb", ".txt", ".lock", ""}
    texts = [path for path in tracked() if path.suffix in suffixes]
    found = [
        f"{path.relative_to(ROOT)}: {place}"
        for path in texts
        for place in MACHINE_PATHS
        if place in path.read_text("utf-8", errors="replace")
    ]
    assert found == []


def test_lock_files_name_no_address_and_pin_by_hash() -> None:
    locks = sorted(ROOT.glob("*.lock"))
    assert {"build-requirements.lock", "requirements.lock"} <= {lock.name for lock in locks}
    for lock in locks:
        text = lock.read_text("utf-8")
        assert "://" not in text
        assert "#" not in text, "comments of the resolver may name hosts and paths"
        pins = [line for line in text.splitlines() if not line.startswith(" ")]
        assert all("==" in pin and pin.endswith("\\") for pin in pins), f"a pin without hash in {lock.name}"


LONG = "def f() -> None:\n" + "    x = 1\n" * FUNCTION_LINES


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (too_long, "x = 1\n" * (MODULE_LINES + 1)),
        (too_long, LONG),
        (prints, "def f() -> None:\n    print('x')\n"),
        (outside_standard_library, "import pyarrow.compute as pc\n"),
        (outside_standard_library, "from nbcc.engine import table\n"),
        (absolute_imports_of_ours, "from nbcc.model import Protocol\n"),
        (imports_of_tests, "from .test_other import helper\n"),
        (unannotated_future, '"""A module."""\nx: int = 1\n'),
    ],
)
def test_each_rule_can_fail(rule: Callable[[str], Iterator[str]], text: str) -> None:
    assert [*rule(text)] != []
