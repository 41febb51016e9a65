#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Shows the main job end to end: a gateway on an embedded store in a temporary folder, a break from a real VAST document,
# three players (two play, one ignores), and the books at the end. Stops everything it started.
set -euo pipefail
cd "$(dirname "$0")/.."
cuecast="${CUECAST_BIN:-$(swift build --show-bin-path)/cuecast}"
speed="${DEMO_SPEED:-5}"
folder="$(mktemp -d -t cuecast-demo.XXXXXX)"
pids=()

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '\n== %s\n' "$*"; }; fi

finish() {
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "1. A gateway starts on an embedded store in $folder"
# There before anybody looks into it: the gateway begins when the machine lets it.
: >"$folder/ready"
"$cuecast" serve --data-dir "$folder/data" --notices 'tcp://127.0.0.1:*' --requests 'tcp://127.0.0.1:*' \
    --broadcast 'tcp://127.0.0.1:*' --http 127.0.0.1:0 --set logLevel=warning >"$folder/ready" &
gateway=$!
pids+=("$gateway")
for _ in $(seq 1 300); do
    grep -q '^ready' "$folder/ready" && break
    kill -0 "$gateway" 2>/dev/null || { echo "the gateway did not start" >&2; exit 1; }
    sleep 0.1
done
cat "$folder/ready"
# The line names what the system chose: notices=… requests=… broadcast=… http=…
for pair in $(sed -n 's/^ready //p' "$folder/ready"); do
    case "$pair" in
        notices=*) export CUECAST_NOTICES="${pair#*=}" ;;
        requests=*) export CUECAST_REQUESTS="${pair#*=}" ;;
        broadcast=*) export CUECAST_BROADCAST="${pair#*=}" ;;
        http=*) export CUECAST_HTTP="${pair#*=}" ;;
    esac
done

say "2. Three players listen to the stream 'demo': ada and bob play ads, eve ignores them (time runs ${speed}x)"
listen() {
    local name="$1"
    shift
    "$cuecast" listen --stream demo --breaks 1 --speed "$speed" "$@" 2>&1 | sed -u "s/^/   [$name] /"
}
listen ada --play & players=($!); pids+=($!)
listen bob --play & players+=($!); pids+=($!)
listen eve --ignore & players+=($!); pids+=($!)

say "3. The broadcaster publishes a break from Examples/two-ads.vast.xml, to start in 5 seconds"
"$cuecast" publish --stream demo --break welcome --vast Examples/two-ads.vast.xml --in 5s

status=0
for player in "${players[@]}"; do wait "$player" || status=$?; done
[ "$status" -eq 0 ] || { echo "a player failed with exit code $status" >&2; exit "$status"; }

say "4. The books"
# The ledger follows the log: wait until it counts what the players were told is recorded (2 ads, 3 players).
for _ in $(seq 1 100); do
    "$cuecast" report --stream demo --format json >"$folder/report.json"
    grep -q '"unknown" *: *[1-9]' "$folder/report.json" || { grep -q '"delivered" *: *3' "$folder/report.json" && break; }
    sleep 0.1
done
"$cuecast" report --stream demo
grep -q '"balanced" *: *false' "$folder/report.json" && { echo "the books do not balance" >&2; exit 1; }

say "5. The gateway stops"
kill -TERM "$gateway"
wait "$gateway"
pids=()
echo "Everything is stopped; the books balanced."
say "Next: look at it on the dashboard"
echo "A gateway that runs has it at http://127.0.0.1:7480/. make demo-live keeps one with listeners and breaks running for you."
say "Next: run it for real"
echo "make deb makes a Debian package with a service; docs/operations/ has pages about installing, upgrading and monitoring it."
