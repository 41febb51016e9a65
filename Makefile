# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Names for what the scripts do. All of them build with the same flags into the same folder (scripts/lib.sh), so that
# nothing is built twice. After a plain `swift build`, which has other flags, our own modules are built anew.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build release deb test test-changed test-deploy test-busy demo demo-live demo-broadcast demo-cluster lint format check-imports generate reference docs docs-site api-diff \
	test-tsan test-asan instructions test-javascript test-web web-crowd rolling test-jetstream test-without-nats test-without-zeromq hostile crash jepsen watchers backups schedules fuzz fuzz-http \
	fuzz-targets soak bench \
	bench-clock bench-peers clean

with_flags := . scripts/lib.sh; choose_swift_flags;

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' Makefile

setup: ## installs the Debian packages that are missing; does nothing when everything is there
	@scripts/setup.sh

build: ## builds `cuecast` and the example `radio-player` for development, into .build/debug
	@scripts/setup.sh build
	@$(with_flags) for product in cuecast radio-player; do \
	    swift build "$${swift_flags[@]}" --product "$$product"; done

release: ## builds `cuecast` and `cuecast-load` for machines without Swift, with their bill of materials, into .build/dist
	@scripts/setup.sh build
	@scripts/release.sh

deb: release ## makes the Debian package, .build/dist/cuecast_VERSION_ARCH.deb
	@scripts/setup.sh build deploy
	@scripts/deb.sh

test-deploy: ## checks everything in deploy/: the package in a bare Debian, the unit, and the other files; needs root
	@scripts/setup.sh build test deploy
	@scripts/test-deploy.sh

test: ## every check and test: what continuous integration runs
	@scripts/check.sh

test-changed: ## builds and runs the tests that depend on what differs from main: for use while developing
	@scripts/setup.sh
	@scripts/test-changed.sh

test-busy: ## runs every test target 10 times beside programs that keep all cores busy, and once at nice 19; for hours
	@scripts/setup.sh
	@scripts/busy.sh
	@scripts/busy.sh --nice --times 1

test-without-zeromq: ## builds the client library as a phone does, where there is no libzmq
	@scripts/setup.sh build
	@scripts/check-without-zeromq.sh

test-javascript: ## tests the JavaScript library without a browser, and measures its size
	@scripts/setup.sh test
	@scripts/check-javascript

test-jetstream: ## runs the tests of the log on NATS JetStream, with servers of their own; on a machine that is not busy
	@scripts/setup.sh test
	@$(with_flags) be_patient; build_everything; trap end_running_targets EXIT; run_named_targets JetStreamLogTests

test-without-nats: ## builds the gateway and its tests where there is no libnats, and runs it
	@scripts/setup.sh build
	@scripts/check-without-nats.sh

test-web: ## measures web content of advertisements in WebKit
	@scripts/setup.sh test
	@/usr/bin/python3 Tests/WebContent/test_web_content.py

web-crowd: build ## has 200 listeners in tabs of Chromium miss and count nothing twice, whatever happens to them; ten minutes
	@scripts/setup.sh test
	@$(with_flags) be_patient; export CUECAST_WEB_LISTENERS=200; scripts/end-to-end.sh WebCrowd

rolling: build ## restarts three gateways on one log one after the other under 2,000 listeners: no break missed; two minutes
	@scripts/setup.sh test
	@$(with_flags) be_patient; swift build "$${swift_flags[@]}" --product cuecast-load; \
	    export CUECAST_ROLLING_LISTENERS=2004; scripts/end-to-end.sh SharedLogRolling

demo: build ## shows the main job end to end in a temporary folder
	@$(with_flags) \
	    CUECAST_BIN="$$(swift build "$${swift_flags[@]}" --show-bin-path)/cuecast" scripts/demo.sh

demo-live: build ## keeps a gateway with 50 listeners and a break every 30 s for the dashboard, until Ctrl-C
	@$(with_flags) swift build "$${swift_flags[@]}" --product cuecast-load; \
	    CUECAST_BIN="$$(swift build "$${swift_flags[@]}" --show-bin-path)/cuecast" exec scripts/demo-live.sh

demo-broadcast: build ## shows a schedule with an ad server and audiences, an encoder's cues and a radio's titles with 300 players, in three minutes
	@scripts/setup.sh demo
	@$(with_flags) swift build "$${swift_flags[@]}" --product cuecast-load; \
	    CUECAST_BIN="$$(swift build "$${swift_flags[@]}" --show-bin-path)/cuecast" exec scripts/demo-broadcast.sh

demo-cluster: build ## shows three gateways on three servers of NATS, one of each killed, with 300 listeners, in two minutes
	@scripts/setup.sh test
	@$(with_flags) swift build "$${swift_flags[@]}" --product cuecast-load; \
	    CUECAST_BIN="$$(swift build "$${swift_flags[@]}" --show-bin-path)/cuecast" exec scripts/demo-cluster.sh

lint: ## the quick checks: format, licence headers, Safety lines, imports
	@scripts/format.sh lint
	@scripts/check-sources
	@scripts/check-imports
	@scripts/embed-dashboard --check

format: ## formats our Swift files in place
	@scripts/format.sh

check-imports: ## checks that every target imports only what the architecture allows
	@scripts/check-imports

generate: ## generates the Swift and JavaScript code of the wire contract from proto/
	@scripts/setup.sh
	@scripts/generate-proto.sh
	@scripts/generate-javascript

reference: ## makes the tables of docs/reference from the declarations in the code
	@scripts/setup.sh build
	@scripts/reference-pages.sh

docs: ## builds the documentation of the public libraries; warnings are errors
	@scripts/docs.sh

docs-site: ## builds the site of the documents, with search, into .build-site; `make docs` before adds the libraries
	@scripts/setup.sh site
	@scripts/docs-site.sh

api-diff: ## says what in the public libraries breaks code that uses them, since the last tag
	@scripts/api-diff.sh

instructions: ## counts the instructions of the hot paths; fails if one grows by more than a tenth
	@scripts/setup.sh
	@scripts/instructions.sh

test-tsan: ## runs the client libraries' tests with the thread sanitizer
	@scripts/setup.sh
	@scripts/sanitize.sh --self-test
	@scripts/sanitize.sh thread

test-asan: ## runs the client libraries' tests with the address sanitizer
	@scripts/setup.sh
	@scripts/sanitize.sh --self-test
	@scripts/sanitize.sh address

hostile: ## attacks the gateway as strangers would beside honest listeners, for about forty minutes; says who notices
	@scripts/setup.sh
	@scripts/hostile.sh

crash: ## ends the gateway at random moments and checks that nothing confirmed was lost or counted twice
	@scripts/setup.sh
	@scripts/crash.sh

jepsen: ## lets faults happen to three gateways on three servers, 200 rounds: nothing confirmed is lost or counted twice; needs root
	@scripts/setup.sh
	@scripts/jepsen.sh

watchers: ## kills one of two watchers of a source at random moments, 200 times: each break is there exactly once
	@scripts/setup.sh
	@scripts/watchers.sh

backups: ## makes 50 backups under load and restores each: nothing confirmed before is lost or counted twice
	@scripts/setup.sh
	@scripts/backups.sh --rounds 50

schedules: ## runs 10,000 random schedules of a player against the gateway's decisions, for about an hour on 2 cores
	@scripts/setup.sh
	@export CUECAST_TEST_SECONDS_MAX=7200 CUECAST_SCHEDULES=10000; $(with_flags) be_patient; \
	    swift build "$${swift_flags[@]}" --build-tests; run_tests --filter '^ListenerSimulationTests\.'

fuzz: ## runs the property tests with new seeds for 10 minutes
	@scripts/setup.sh
	@scripts/fuzz.sh

fuzz-http: build ## sends random requests to a gateway over HTTP, by its own description: FUZZ_EXAMPLES of each operation, 300 unless told
	@scripts/setup.sh
	@$(with_flags) export CUECAST_BIN="$$(swift build "$${swift_flags[@]}" --show-bin-path)/cuecast"; \
	    export FUZZ_EXAMPLES="$${FUZZ_EXAMPLES:-300}" FUZZ_SEED="$${FUZZ_SEED:-$$RANDOM}"; \
	    echo "FUZZ_SEED=$$FUZZ_SEED"; /usr/bin/python3 Tests/EndToEnd/test_http_api.py HTTPFuzz

fuzz-targets: ## looks for bytes that break what reads strangers' bytes, with libFuzzer: FUZZ_SECONDS for each target, 60 unless told
	@scripts/setup.sh build
	@scripts/fuzz-targets.sh --seconds "$${FUZZ_SECONDS:-60}"

soak: ## repeats tests, fuzz and crash tests for an hour, until one fails
	@scripts/setup.sh
	@scripts/soak.sh

bench: ## measures the gateway against bare libzmq and SQLite, for about two hours; gates nothing
	@scripts/setup.sh
	@scripts/bench.sh

bench-clock: release ## measures how far apart 100 players begin the same break, for about two minutes
	@scripts/setup.sh
	@. scripts/lib.sh; choose_release_flags; swift build "$${release_flags[@]}" --product ClockSpread; \
	    bin="$$(swift build "$${release_flags[@]}" --show-bin-path)"; \
	    /usr/bin/python3 Benchmarks/clock_spread.py --binary "$$bin/cuecast"

bench-peers: ## measures other servers at the same work; installs them; gates nothing
	@scripts/setup.sh build test bench-peers
	@scripts/bench.sh --peers

clean: ## removes everything that was built
	@. scripts/lib.sh; rm -rf -- "$$scratch" "$$scratch-generator" "$$scratch-without-zeromq" "$$scratch-without-nats" \
	    "$$scratch-manuals" "$$scratch-thread" "$$scratch-address" "$$scratch-docs" "$$scratch-site" "$$scratch-api" \
	    "$$scratch-instructions" "$$scratch-fuzz"
