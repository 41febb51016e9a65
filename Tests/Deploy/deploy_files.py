# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""What the checks of deploy/ share: where the files are, and what the gateway calls its metrics and alarms."""
import json, re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus/cuecast.rules.yaml"
RULE_TESTS = DEPLOY / "prometheus/cuecast.rules.test.yaml"
DASHBOARD = DEPLOY / "grafana/cuecast.json"
KUBERNETES = DEPLOY / "kubernetes"
CONTAINERFILE = DEPLOY / "container/Containerfile"


def source(path):
    return (ROOT / "Sources" / path).read_text()


def metrics():
    """The kind of each metric, by its name in Prometheus."""
    names = dict(re.findall(r'case (\w+) = "(cuecast_\w+)"', source("GatewayCore/Metrics/Metric.swift")))
    table = source("GatewayCore/Metrics/MetricDeclaration.swift").split("var declaration: MetricDeclaration", 1)[1]
    kinds = dict(re.findall(r"case \.(\w+):\s*\.(counter|gauge|histogram)", table))
    return {name: kinds[case] for case, name in names.items()}


def alarms():
    """The names of all alarms."""
    enum = source("GatewayCore/Metrics/Alarm.swift").split("package enum Alarm", 1)[1].split("\n}", 1)[0]
    return re.findall(r"^    case (\w+)$", enum, re.M)


def metric_names(expression):
    """The metrics that an expression reads, without the suffixes of a histogram's series."""
    kinds = metrics()
    names = set()
    for name in re.findall(r"\bcuecast_\w+", expression):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        names.add(base if kinds.get(base) == "histogram" else name)
    return names


def rules():
    """All alerts."""
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels():
    """The panels of the dashboard that show something."""
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def expected_unit(expression):
    """What Grafana calls the unit of an expression: it follows from the metric's name and from what is done with it."""
    if "histogram_quantile" in expression or expression.startswith(("min(time()", "max(time()")):
        return "s"
    if re.search(r"\} / cuecast_", expression):
        return "percentunit"
    if "rate(" in expression:
        return "ops"
    if "increase(" in expression or "changes(" in expression:
        return "short"
    units = {"bytes" if re.search(r"_bytes(_max|_waiting)?$", name) else "s" if name.endswith("_seconds") else "short"
             for name in metric_names(expression)}
    assert len(units) == 1, f"units are mixed: {expression}"
    return units.pop()
