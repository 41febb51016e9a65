#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Asks a real Prometheus, which reads a real gateway under load, every query of the dashboard: none may be empty.

    CUECAST_BIN=… Tests/Deploy/dashboard.py [--table FILE]

Prints a table of panels, queries and results; with --table it writes the table to a file too. The alerts are evaluated
beside it, and what the funnel shows is compared with the gateway's own report.
"""
import argparse, json, math, os, shutil, subprocess, sys, tempfile, time, urllib.error, urllib.parse, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../EndToEnd"))
import harness  # noqa: E402
from deploy_files import RULES, expected_unit, metric_names, panels  # noqa: E402

LISTENERS = 200
BREAKS = 3
#: So often Prometheus reads the gateway, in seconds, and so much longer is what stands for Grafana's $__rate_interval.
SCRAPE_SECONDS = 1
RATE_SCRAPES = 15
#: What must be more than 0 after the load; anything else may rightly be 0.
TRAFFIC = {
    "cuecast_notified_listeners_total", "cuecast_batches_total", "cuecast_delivered_advertisements_total",
    "cuecast_counted_outcomes_total", "cuecast_notices_sent_total", "cuecast_listener_requests_total",
    "cuecast_broadcast_requests_total", "cuecast_acknowledged_outcomes_total", "cuecast_log_append_seconds",
    "cuecast_publish_to_notice_seconds", "cuecast_schedule_late_seconds", "cuecast_ledger_copy_seconds",
    "cuecast_resident_memory_bytes", "cuecast_log_bytes", "cuecast_ledger_bytes", "cuecast_ledger_copy_bytes",
    "cuecast_disk_free_bytes", "cuecast_connections", "cuecast_streams", "cuecast_ready",
}


class Prometheus:
    """A Prometheus of our own: a folder and a port of its own."""

    def __init__(self, target, interval):
        self.interval = interval
        self.folder = tempfile.mkdtemp(prefix="cuecast-prometheus.")
        self.port = harness.HeldPort()
        configuration = os.path.join(self.folder, "prometheus.json")
        with open(configuration, "w") as file:
            json.dump({
                "global": {name: f"{interval}s" for name in ("scrape_interval", "scrape_timeout", "evaluation_interval")},
                "rule_files": [str(RULES)],
                "scrape_configs": [{"job_name": "cuecast", "static_configs": [{"targets": [target]}]}],
            }, file)
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address={self.port.address}"], stdout=self.log, stderr=subprocess.STDOUT)

    def get(self, path, **query):
        assert self.process.poll() is None, "prometheus ended:\n" + open(self.log.name).read()
        try:
            address = f"http://{self.port.address}{path}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(address, timeout=harness.PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None  # It does not serve yet.
            raise AssertionError(f"{query}: {error.read().decode()}") from error
        except urllib.error.URLError:
            return None  # It does not listen yet.

    def value(self, query):
        """The value of the first series now; `None`: there is none."""
        data = self.get("/api/v1/query", query=query)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None

    def series(self, query, begin, end):
        """The numbers of each series, without those that are not a number."""
        data = self.get("/api/v1/query_range", query=query, start=begin, end=end, step=self.interval)
        numbers = [[float(value) for _, value in each["values"]] for each in data["result"]]
        return [[value for value in each if not math.isnan(value)] for each in numbers]

    def close(self):
        self.process.terminate()
        self.process.wait(harness.PATIENCE)
        self.log.close()
        self.port.close()
        shutil.rmtree(self.folder)


def load(gateway, factor):
    """Has simulated listeners play three breaks."""
    tool = os.path.join(os.path.dirname(harness.BINARY), "cuecast-load")
    done = subprocess.run(
        [tool, "--stream", "dashboard", "--listeners", str(LISTENERS), "--breaks", str(BREAKS), "--every", f"{5 * factor}s",
         "--lead", f"{4 * factor}s", "--ads", "3", "--patience", "30m", "--json"],
        env=gateway.environment, stdout=subprocess.DEVNULL, timeout=harness.PATIENCE)
    # How well it kept up is not what is tested here; whether the books are right is asked below.
    assert done.returncode in (0, 1), done.returncode


def shown(unit, value):
    if unit == "s":
        return f"{value:.4g} s"
    if unit == "bytes":
        return f"{value:.0f} B"
    if unit == "percentunit":
        return f"{100 * value:.3g} %"
    return f"{value:.4g}" + ("/s" if unit == "ops" else "")


def check(prometheus, begin, end):
    """Asks every query; returns the rows of the table, and what is wrong."""
    rows, faults = [], []
    seconds = int(end - begin)
    for panel in panels():
        unit = panel["fieldConfig"]["defaults"]["unit"]
        for target in panel["targets"]:
            written = target["expr"]
            query = written.replace("$__rate_interval", f"{RATE_SCRAPES * prometheus.interval}s").replace("$__range", f"{seconds}s")
            query = query.replace("$job", "cuecast").replace("$instance", ".*")
            at = begin if target["range"] else end
            series = prometheus.series(query, at, end)
            numbers = [value for each in series for value in each]
            if not numbers:
                faults.append(f"{panel['title']}: nothing, or no number: {query}")
                continue
            if unit != expected_unit(written):
                faults.append(f"{panel['title']}: its unit is {unit}, and should be {expected_unit(written)}: {query}")
            if metric_names(written) & TRAFFIC and "without" not in target["legendFormat"] and not max(numbers) > 0:
                faults.append(f"{panel['title']}: it is 0 under load: {query}")
            low, high = (shown(unit, value) for value in (min(numbers), max(numbers)))
            plain = written.replace('{job="$job", instance=~"$instance"}', "").replace('job="$job", instance=~"$instance", ', "")
            rows.append((panel["title"], unit, f"`{plain}`", len(series), low if low == high else f"{low} … {high}"))
    return rows, faults


def compare(prometheus, gateway):
    """The funnel and the gateway's report must count the same."""
    faults = []
    total = gateway.get("/v1/reports?stream=dashboard")["total"]
    for name in ("played", "ignored", "failed"):
        counted = prometheus.value(f'cuecast_counted_outcomes_total{{outcome="{name}"}}')
        if counted != total[name]:
            faults.append(f"{name}: {counted} in the metrics, {total[name]} in the report")
    delivered = prometheus.value("cuecast_delivered_advertisements_total")
    if delivered != total["delivered"]:
        faults.append(f"delivered: {delivered} in the metrics, {total['delivered']} in the report")
    if prometheus.value("max_over_time(cuecast_listeners[1h])") != LISTENERS:
        faults.append(f"the metrics never saw all {LISTENERS} listeners")
    if not total["delivered"] > 0:
        faults.append("nothing was delivered")
    return faults


def check_rules(prometheus):
    """Every alert can be evaluated on real metrics, and none of a gateway that is well says that it is not."""
    faults = []
    alerts = [rule for group in prometheus.get("/api/v1/rules")["groups"] for rule in group["rules"]]
    if not alerts:
        faults.append("prometheus has no rules")
    for rule in alerts:
        if rule["health"] != "ok":
            faults.append(f"{rule['name']}: {rule['health']} {rule.get('lastError')}")
        if rule["state"] == "firing":
            faults.append(f"{rule['name']} fires: {[each['annotations']['summary'] for each in rule['alerts']]}")
    return faults


def run(factor):
    """One gateway under load, read and asked; all times are longer by the factor.

    Returns the rows of the table, what is wrong, and whether Prometheus read the gateway as often as it should.
    """
    gateway = harness.Gateway("--set", "breaks.announceAhead=2s", "--set", "ledger.copies.interval=60s")
    prometheus = Prometheus(gateway.addresses["http"], SCRAPE_SECONDS * factor)
    try:
        # From 0 on, so that what grows is seen to grow.
        harness.until("prometheus reads the gateway",
                      lambda: (prometheus.value('sum(count_over_time((up{job="cuecast"} == 1)[10m:]))') or 0) >= 3)
        begin = time.time()
        load(gateway, factor)
        waiting = "sum(cuecast_ledger_lag_records) + sum(cuecast_acknowledgements_waiting)"
        harness.until("everything is counted", lambda: prometheus.value(waiting) == 0)
        harness.until("the ledger was copied", lambda: (prometheus.value("cuecast_ledger_copy_seconds_count") or 0) > 0)
        harness.until("the room is measured", lambda: (prometheus.value("cuecast_ledger_bytes") or 0) > 0)
        # What was read last must be seen by all queries: a scrape may be under way.
        last = time.time()
        harness.until("the newest numbers are read",
                      lambda: (prometheus.value('min(timestamp(up{job="cuecast"} == 1))') or 0) > last + 2)
        end = time.time()
        rows, faults = check(prometheus, begin, end)
        faults += compare(prometheus, gateway)
        harness.until("every alert is evaluated",
                      lambda: all(rule["health"] != "unknown" for group in prometheus.get("/api/v1/rules")["groups"]
                                  for rule in group["rules"]))
        faults += check_rules(prometheus)
        read = prometheus.value(f'sum(sum_over_time(up{{job="cuecast"}}[{int(end - begin)}s]))') or 0
        return rows, faults, read >= 0.8 * (end - begin) / prometheus.interval
    finally:
        prometheus.close()
        gateway.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", help="writes the table to this file")
    options = parser.parse_args()
    rows, faults, _ = harness.slower_until(run, lambda result: result[2])
    table = ["| panel | unit | query (without the selection of gateways) | series | from … to |", "| --- | --- | --- | --- | --- |"]
    table += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    print("\n".join(table))
    for fault in faults:
        print(f"dashboard: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    if options.table:
        with open(options.table, "w") as file:
            file.write("\n".join(table) + "\n")
    print(f"dashboard: {len(rows)} queries of {len(panels())} panels have results, their units fit")


if __name__ == "__main__":
    main()
