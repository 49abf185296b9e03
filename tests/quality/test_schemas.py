"""The JSON Schemas of the package accept every file of the package, and refuse what the loaders refuse."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nbcc.simulator.schemas import schemas
from nbcc.simulator.workload import scenario
from tools.regenerate import schema_files, stale

ROOT = Path(__file__).parents[2]
FILES = {
    "world": "specs/worlds/*.toml",
    "protocol": "specs/protocols/*.toml",
    "scenario": "specs/workload/scenarios/*.toml",
    "trace": "specs/traces/*.json",
}


def files(kind: str) -> Iterator[tuple[str, Any]]:
    for path in sorted(ROOT.glob(FILES[kind])):
        text = path.read_text("utf-8")
        yield path.name, tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def validator(kind: str) -> Draft202012Validator:
    Draft202012Validator.check_schema(schemas()[kind])
    return Draft202012Validator(schemas()[kind])


@pytest.mark.parametrize("kind", FILES)
def test_every_file_of_the_package_is_valid(kind: str) -> None:
    check, found = validator(kind), list(files(kind))
    assert len(found) >= 14
    assert [f"{name}: {error.message}" for name, each in found for error in check.iter_errors(each)] == []


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("world", {"actors": {"writer": 2}}),  # no format
        ("world", {"format": 1, "actors": {"writers": 2}}),
        ("world", {"format": 1, "limits": {"compactions": "two"}}),
        ("protocol", {"format": 1, "slicing": "by_luck"}),
        ("protocol", {"format": 2}),
        ("scenario", {"format": 1}),
        ("scenario", {"format": 1, "writers": []}),
        ("scenario", {"format": 1, "writers": [{"every": "1m"}]}),  # no name
        ("scenario", {"format": 1, "writers": [{"name": "a", "arrival": "late"}]}),
        ("trace", {"format": 1, "world": {}, "protocol": {}}),  # no steps
        ("trace", {"format": 1, "world": {}, "protocol": {}, "steps": [{"actor": "w1", "action": "writer_dances"}]}),
    ],
)
def test_a_wrong_file_is_not_valid(kind: str, wrong: Any) -> None:
    assert not validator(kind).is_valid(wrong)


def is_loaded(content: Any) -> bool:
    try:
        scenario.scenario_of("tried", content)
    except ValueError:
        return False
    return True


def with_value(kind: type, name: str, value: Any) -> dict[str, Any]:
    """A scenario whose object of a class has this value. Its table has room for the partitions of a batch."""
    writer, table = {"name": "w"}, {"partitions": scenario.MOST["partitions"]}
    content: dict[str, Any] = {"format": 1, "table": table, "writers": [writer]}
    {scenario.Scenario: content, scenario.TableLoad: table, scenario.WriterLoad: writer}[kind][name] = value
    return content


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in scenario.BOUNDED.items() for name in names])
def test_the_schema_of_scenarios_has_the_bounds_of_the_loader(kind: type, name: str) -> None:
    most = scenario.MOST.get(name, scenario.MANY)
    for value, is_right in ((-1, False), (0, False), (1, True), (most, True), (most + 1, False)):
        content = with_value(kind, name, value)
        assert (is_loaded(content), validator("scenario").is_valid(content)) == (is_right, is_right), value


@pytest.mark.parametrize(("name", "value", "is_right"), [
    ("every", "90s", True), ("every", " 1.5 h ", True), ("every", 90, False), ("every", "soon", False),
    ("every", "-5m", False), ("zipf", 0.5, True), ("zipf", "1m", False),
])  # fmt: skip
def test_the_schema_of_scenarios_takes_the_durations_of_the_loader(name: str, value: Any, is_right: bool) -> None:
    content = with_value(scenario.WriterLoad, name, value)
    assert (is_loaded(content), validator("scenario").is_valid(content)) == (is_right, is_right)


def test_the_stored_schemas_are_those_of_the_code() -> None:
    assert stale(schema_files()) == [], "python -m tools.regenerate schemas"
