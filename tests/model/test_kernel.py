"""The kernel alone: RFC-66 without any mechanism, which it does not import, in few lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nbcc.model import Protocol, assembly, kernel, machine, mechanisms
from nbcc.model.machine.transition_system import TransitionSystem
from nbcc.model.mechanisms import of_package
from nbcc.simulator import specs

MOST_LINES = 1_200


def modules(package: ModuleType) -> list[Path]:
    """The modules of a package, in all folders below it."""
    return sorted(each for folder in package.__path__ for each in Path(folder).rglob("*.py"))


def imported(path: Path, package: Path) -> Iterator[str]:
    """What a module imports of nbcc, by name from `nbcc.model`; relative names are resolved by the module's place."""
    here = ("model", package.name, *path.relative_to(package).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join((*base, *((node.module,) if node.module else ())))
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_a_search_of_the_kernel_alone() -> None:
    """The world `demo`, as `nbcc explore demo` counts it: 415 states, 19 deep (the first state is at depth 1)."""
    world, protocol = specs.world("demo"), Protocol()
    composition = assembly.compose(world, protocol, only=())
    system = TransitionSystem(
        assembly.first_values(composition), assembly.transitions(composition), composition.actors,
        names=assembly.names_of(composition, world, protocol),
    )  # fmt: skip
    seen, layer, depth = {0}, [0], 1
    while layer := [after for after in dict.fromkeys(s for each in layer for _, s in system.successors(each))
                    if after not in seen]:  # fmt: skip
        seen.update(layer)
        depth += 1
    assert (len(seen), depth) == (415, 19)


def test_components_and_actions_of_the_kernel_alone_are_its_own() -> None:
    composition = assembly.compose(specs.world("demo"), Protocol(), only=())
    assert composition.components.keys() == {"clock", "lock", "plans", "published"}
    assert not any(composition.fields.values())
    own = {action.name for part in of_package("kernel").values() for action in part.actions}
    assert {each.action for each in composition.transitions.values()} <= own
    assert own < {*mechanisms.actions()}


@pytest.mark.parametrize("path", modules(kernel), ids=lambda path: path.stem)
def test_the_kernel_imports_no_mechanism_and_no_variant(path: Path) -> None:
    names = list(imported(path, Path(kernel.__path__[0])))
    assert [name for name in names if "mechanisms" in name.split(".") or "variants" in name.split(".")] == []


@pytest.mark.parametrize("path", modules(machine), ids=lambda path: path.stem)
def test_the_machine_imports_nothing_else_of_the_model(path: Path) -> None:
    names = [name for name in imported(path, Path(machine.__path__[0])) if name.startswith(("model.", "nbcc."))]
    assert [name for name in names if not name.startswith("model.machine.")] == []


def test_an_import_of_a_mechanism_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "kernel"
    package.mkdir()
    (package / "writer.py").write_text("from ..mechanisms.crashes import Crashes\nfrom .. import variants\n")
    (found,) = package.iterdir()
    assert [*imported(found, package)] == ["model.mechanisms.crashes.Crashes", "model.variants"]


def test_the_kernel_is_short() -> None:
    lines = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(kernel)}
    assert sum(lines.values()) <= MOST_LINES, lines
