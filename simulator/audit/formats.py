"""The report on a table in the formats of other tools: SARIF 2.1.0 (code scanning), JUnit (test reports of CI),
OpenMetrics 1.0 (Prometheus) and OpenLineage 2-0-2 (data catalogues).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from nbcc.engine.terminal import printable

from .diagnostics import RULES
from .health import Health
from .report import PromiseLine, Report

SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
PRODUCER: Final = "urn:nbcc:validate"
RUN_EVENT: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
ASSERTIONS: Final = "https://openlineage.io/spec/facets/1-0-1/DataQualityAssertionsDatasetFacet.json"
_LEVELS: Final = {"BROKEN": "error", "AT RISK": "warning"}
_VERDICTS: Final = ("OK", "BROKEN", "UNDETERMINED")


def sarif(report: Report, health: Health, now: datetime) -> str:
    """Return a SARIF log with one result for each diagnostic. The URI of a result is relative to the table."""
    named = {diagnostic.rule for diagnostic in report.diagnostics}
    rules = [
        {"id": rule.name, "shortDescription": {"text": rule.about}, "help": {"text": f"nbcc explain {rule.name}"}}
        for rule in RULES
        if rule.name in named
    ]
    results = [
        {
            "ruleId": d.rule,
            "level": _LEVELS[d.gravity],
            "message": {"text": f"{d.because}. Do: {d.remedy.replace('{table}', report.url)}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": d.file, "uriBaseId": "TABLE"}}}],
            "properties": {"promises": list(d.promises)},
        }
        for d in report.diagnostics
    ]
    driver = {"name": "nbcc validate", "rules": rules}
    base = {"TABLE": {"uri": f"{report.url.rstrip('/')}/"}}
    run = {"tool": {"driver": driver}, "originalUriBaseIds": base, "results": results}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def junit(report: Report, health: Health, now: datetime) -> str:
    """Return a JUnit report with one test case for each promise, and one for each threshold."""
    lines = report.promises
    suite = ElementTree.Element("testsuite", name=printable(report.url), tests=str(len(lines) + len(health.checked)))
    counts = Counter(line.verdict for line in lines.values())
    late = [figure for figure in health.checked if figure.late]
    suite.set("failures", str(counts["BROKEN"] + len(late)))
    suite.set("skipped", str(counts["UNDETERMINED"]))
    suite.set("errors", "0")
    suite.set("time", "0")
    suite.set("timestamp", now.strftime("%Y-%m-%dT%H:%M:%S"))
    for name, line in lines.items():
        case = ElementTree.SubElement(suite, "testcase", classname="promise", name=name, time="0")
        if line.verdict == "BROKEN":
            failure = ElementTree.SubElement(case, "failure", message=printable(line.because), type="BROKEN")
            failure.text = "\n".join(_of_promise(report, name))
        elif line.verdict == "UNDETERMINED":
            ElementTree.SubElement(case, "skipped", message=printable(line.because))
    for figure in health.checked:
        case = ElementTree.SubElement(suite, "testcase", classname="cadence", name=figure.name, time="0")
        if figure.late:
            ElementTree.SubElement(case, "failure", message=figure.text, type="LATE")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _of_promise(report: Report, name: str) -> Iterator[str]:
    for d in report.diagnostics:
        if d.gravity == "BROKEN" and name in d.promises:
            yield printable(f"{d.file}: {d.because}. Do: {d.remedy.replace('{table}', report.url)}")


def openmetrics(report: Report, health: Health, now: datetime) -> str:
    """Return gauges in the text format of OpenMetrics: the verdict, diagnostics, promises and cadence of a table."""
    table = {"table": report.url}
    verdicts = {name: PromiseLine(report.verdict, "").verdict == name for name in _VERDICTS}
    counts = Counter((d.rule, d.gravity) for d in report.diagnostics)
    found = [
        *_stateset("nbcc_table_verdict", "The verdict on the table.", [(table, verdicts)]),
        *_stateset(
            "nbcc_promise_verdict",
            "The verdict on each promise.",
            [
                ({**table, "promise": p}, {v: line.verdict == v for v in _VERDICTS})
                for p, line in report.promises.items()
            ],
        ),
        *_gauge(
            "nbcc_diagnostics",
            "Faults of the table by rule.",
            [({**table, "rule": rule, "gravity": gravity}, n) for (rule, gravity), n in sorted(counts.items())],
        ),
    ]
    for figure in health.figures:
        if figure.value is not None:
            found += _gauge(figure.metric, f"{figure.about}.", [(table, figure.value)], figure.unit)
    return "\n".join([*found, "# EOF"])


def _stateset(name: str, about: str, rows: list[tuple[dict[str, str], dict[str, bool]]]) -> Iterator[str]:
    yield f"# TYPE {name} stateset"
    yield f"# HELP {name} {about}"
    for labels, states in rows:
        yield from (f"{name}{_labels({**labels, name: state})} {int(holds)}" for state, holds in states.items())


def _gauge(name: str, about: str, rows: list[tuple[dict[str, str], float]], unit: str = "") -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {about}"
    yield from (f"{name}{_labels(labels)} {value:g}" for labels, value in rows)


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')


def openlineage(report: Report, health: Health, now: datetime) -> str:
    """Return a run event of OpenLineage: the table is its input, and each promise an assertion about its quality."""
    head, _, path = report.url.partition("://")
    scheme, (bucket, _, rest) = (head, path.partition("/")) if path else ("file", ("", "", head))
    namespace = f"{scheme}://{bucket}" if bucket else scheme
    assertions = [
        {"assertion": name, "success": line.verdict == "OK"}
        for name, line in report.promises.items()
        if line.verdict != "UNDETERMINED"
    ]
    facet = {"_producer": PRODUCER, "_schemaURL": ASSERTIONS, "assertions": assertions}
    time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event: dict[str, Any] = {
        "eventType": "COMPLETE",
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": RUN_EVENT,
        "run": {"runId": str(uuid5(NAMESPACE_URL, f"{report.url} {time}"))},
        "job": {"namespace": "nbcc", "name": f"validate {report.url}"},
        "inputs": [
            {"namespace": namespace, "name": rest or "/", "inputFacets": {"dataQualityAssertions": facet}}
        ],
        "outputs": [],
    }  # fmt: skip
    return json.dumps(event, indent=1, ensure_ascii=False)


FORMATS: Final[Mapping[str, Callable[[Report, Health, datetime], str]]] = {
    "sarif": sarif,
    "junit": junit,
    "openmetrics": openmetrics,
    "openlineage": openlineage,
}


def formatted(name: str, report: Report, health: Health) -> str:
    return FORMATS[name](report, health, datetime.now(UTC))
