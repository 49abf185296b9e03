"""The report in the formats of other tools, the thresholds of the cadence, and the state of a second run.

The schemas here are the parts of each format that a report uses, by the formats' own documents. The published schemas
are compared if NBCC_SCHEMAS names a folder with them: they are too large, and not ours, to be in this repository.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from referencing import Registry, Resource

from nbcc.engine.storage import Storage
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import nbcc_of

from .golden import BAD, good_table

TEXT: Final = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
PLACE: Final = {
    "type": "object",
    "required": ["uri"],
    "properties": {"uri": {"type": "string", "format": "uri-reference"}},
}
SARIF: Final[dict[str, Any]] = {
    "type": "object", "required": ["version", "runs"], "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["tool"], "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "properties": {"driver": {
                    "type": "object", "required": ["name"], "additionalProperties": False, "properties": {
                        "name": {"type": "string"},
                        "rules": {"type": "array", "uniqueItems": True, "items": {
                            "type": "object", "required": ["id"], "additionalProperties": False,
                            "properties": {"id": {"type": "string"}, "shortDescription": TEXT, "help": TEXT}}}}}}},
                "originalUriBaseIds": {"type": "object", "additionalProperties": PLACE},
                "results": {"type": "array", "items": {
                    "type": "object", "required": ["message"], "additionalProperties": False,
                    "properties": {
                        "ruleId": {"type": "string"}, "level": {"enum": ["none", "note", "warning", "error"]},
                        "message": TEXT, "properties": {"type": "object"},
                        "locations": {"type": "array", "items": {
                            "type": "object", "additionalProperties": False, "properties": {"physicalLocation": {
                                "type": "object", "additionalProperties": False,
                                "properties": {"artifactLocation": PLACE}}}}}}}}}}}},
}  # fmt: skip
FACET: Final = {"type": "object", "required": ["_producer", "_schemaURL"]}
LINEAGE: Final[dict[str, Any]] = {
    "type": "object", "required": ["eventTime", "producer", "schemaURL", "run", "job"],
    "properties": {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "eventTime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
        "run": {"type": "object", "required": ["runId"],
                "properties": {"runId": {"type": "string", "pattern": r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}}},
        "job": {"type": "object", "required": ["namespace", "name"]},
        "inputs": {"type": "array", "minItems": 1, "items": {
            "type": "object", "required": ["namespace", "name"],
            "properties": {"inputFacets": {"type": "object", "additionalProperties": FACET, "properties": {
                "dataQualityAssertions": {"type": "object", "required": ["assertions"], "properties": {
                    "assertions": {"type": "array", "items": {
                        "type": "object", "required": ["assertion", "success"],
                        "properties": {"assertion": {"type": "string"}, "success": {"type": "boolean"}}}}}}}}}}},
    },
}  # fmt: skip
SCHEMAS: Final = os.environ.get("NBCC_SCHEMAS", "")
PUBLISHED: Final = ("sarif-schema-2.1.0.json", "OpenLineage.json", "DataQualityAssertionsDatasetFacet.json")


@pytest.fixture
def good(tmp_path: Path) -> Storage:
    return good_table(tmp_path / "t")


def report(tmp_path: Path, *options: str) -> tuple[str, Exit]:
    found = nbcc_of("validate", str(tmp_path / "t"), *options)
    return found.stdout, Exit(found.return_value)


def test_sarif_has_a_result_for_each_diagnostic(good: Storage, tmp_path: Path) -> None:
    BAD["input-of-a-plan-gone"].do(good)
    text, code = report(tmp_path, "--format", "sarif")
    document = json.loads(text)
    Draft202012Validator(SARIF).validate(document)
    [run] = document["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"listed-file-missing", "plan-cannot-run"}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {result["ruleId"] for result in run["results"]}
    assert code == Exit.VIOLATED


def test_junit_counts_what_it_lists(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    text, _ = report(tmp_path, "--format", "junit", "--at-most", "logs=0")
    suite = ElementTree.fromstring(text)
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.attrib["tests"])
    failed = {case.attrib["name"] for case in cases if case.find("failure") is not None}
    assert failed == {"SNAP", "TRAVEL", "INCR", "logs"}
    assert int(suite.attrib["failures"]) == len(failed)
    assert int(suite.attrib["skipped"]) == sum(case.find("skipped") is not None for case in cases)


def test_prometheus_parses_openmetrics(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    text, _ = report(tmp_path, "--format", "openmetrics")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert {name: families[name].type for name in ("nbcc_table_verdict", "nbcc_diagnostics", "nbcc_logs")} == {
        "nbcc_table_verdict": "stateset", "nbcc_diagnostics": "gauge", "nbcc_logs": "gauge",
    }  # fmt: skip
    assert families["nbcc_compaction_age_seconds"].unit == "seconds"
    verdict = {sample.labels["nbcc_table_verdict"]: sample.value for sample in families["nbcc_table_verdict"].samples}
    assert verdict == {"OK": 0, "BROKEN": 1, "UNDETERMINED": 0}
    [fault] = families["nbcc_diagnostics"].samples
    assert (fault.labels["rule"], fault.labels["gravity"], fault.value) == ("listed-file-missing", "BROKEN", 1)
    assert "nbcc_pending" in families


@pytest.mark.parametrize("kind", ["log-gone", "input-of-a-plan-gone"])
@pytest.mark.skipif(not SCHEMAS, reason="NBCC_SCHEMAS names no folder with the schemas of the formats")
def test_the_published_schemas_accept_the_reports(kind: str, good: Storage, tmp_path: Path) -> None:
    """The folder has sarif-schema-2.1.0.json, OpenLineage.json, DataQualityAssertionsDatasetFacet.json, junit-10.xsd.
    """
    xmlschema = pytest.importorskip("xmlschema")
    BAD[kind].do(good)
    sarif, event, facet = (json.loads((Path(SCHEMAS) / name).read_text("utf-8")) for name in PUBLISHED)
    texts = {form: report(tmp_path, "--format", form)[0] for form in ("sarif", "openlineage", "junit")}
    Draft7Validator(sarif).validate(json.loads(texts["sarif"]))
    base = Resource.from_contents(event)
    registry: Registry[Any] = Registry(retrieve=lambda uri: base)  # nothing is fetched: facets refer to the event alone
    lineage = json.loads(texts["openlineage"])
    Draft202012Validator(event, registry=registry).validate(lineage)
    Draft202012Validator(facet, registry=registry).validate(lineage["inputs"][0]["inputFacets"])
    xmlschema.XMLSchema(str(Path(SCHEMAS) / "junit-10.xsd")).validate(texts["junit"])


def test_openlineage_asserts_each_promise(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    text, _ = report(tmp_path, "--format", "openlineage")
    event = json.loads(text)
    Draft202012Validator(LINEAGE).validate(event)
    facet = event["inputs"][0]["inputFacets"]["dataQualityAssertions"]
    failed = {each["assertion"] for each in facet["assertions"] if not each["success"]}
    assert failed == {"SNAP", "TRAVEL", "INCR"}


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (["compaction=1s"], Exit.VIOLATED),
        (["compaction=99999d", "logs=9", "savepoint=1s"], Exit.AGREES),
        (["logs=soon"], Exit.BAD_INPUT),
        (["compaction=7"], Exit.BAD_INPUT),
        (["vacuum=7d"], Exit.BAD_INPUT),
    ],
)
def test_a_threshold_decides_the_exit_code(good: Storage, tmp_path: Path, limits: list[str], code: Exit) -> None:
    from nbcc.simulator.cli.main import run

    options = [word for limit in limits for word in ("--at-most", limit)]
    assert run(["validate", str(tmp_path / "t"), *options]) == code


def test_the_second_run_costs_a_listing_and_says_what_is_new(good: Storage, tmp_path: Path) -> None:
    good.delete_all([e.path for e in good.list(".hoodie/timeline") if "compaction" in e.path])  # nothing is pending
    state = str(tmp_path / "state.json")
    first = nbcc_of("validate", str(tmp_path / "t"), "--state", state)
    second = nbcc_of("validate", str(tmp_path / "t"), "--state", state)
    assert second.return_value == first.return_value
    assert "no file of the table has changed since" in second.stdout
    assert "read 1 " in second.stderr or second.stderr == ""
    BAD["log-gone"].do(good)
    third = nbcc_of("validate", str(tmp_path / "t"), "--state", state)
    assert third.return_value == Exit.VIOLATED
    assert "new: listed-file-missing" in third.stderr


def test_since_leaves_out_older_faults(good: Storage, tmp_path: Path) -> None:
    BAD["superseded-log-gone"].do(good)
    assert report(tmp_path)[1] == Exit.VIOLATED
    assert report(tmp_path, "--since", "20260101000000005")[1] == Exit.AGREES
