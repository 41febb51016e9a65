#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Shows three gateways on one log that three servers of NATS keep: 300 listeners, a break, and in its middle a gateway and a server that
# are killed. In the end the books of all gateways balance, are the same, and have everything that listeners were told is recorded.
# Everything runs on this machine, in a temporary folder. Stops everything it started.
set -euo pipefail
cd "$(dirname "$0")/.."
cuecast="${CUECAST_BIN:-$(swift build --show-bin-path)/cuecast}"
load="${CUECAST_LOAD_BIN:-$(dirname "$cuecast")/cuecast-load}"
nats="${NATS_SERVER:-$PWD/.venv/bin/nats-server}"
listeners="${DEMO_LISTENERS:-100}"
#: How long nothing may happen before something is given up, in seconds.
patience="${CUECAST_TEST_PATIENCE:-60}"
[ -x "$nats" ] || { echo "there is no $nats: scripts/setup.sh test installs it" >&2; exit 1; }
folder="$(mktemp -d -t cuecast-cluster.XXXXXX)"
declare -A servers gateways http loads
base=$((20000 + RANDOM % 20000))

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '\n== %s\n' "$*"; }; fi
fail() { echo "$*" >&2; exit 1; }

finish() {
    local pid
    for pid in "${loads[@]}" "${gateways[@]}" "${servers[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${loads[@]}" "${gateways[@]}" "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Waits until a command succeeds.
until_true() {
    local what="$1" end=$((SECONDS + patience))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited in vain: $what"
        sleep 0.2
    done
}

server_address() { echo "127.0.0.1:$((base + $1))"; }

start_server() {
    local number="$1" each routes=""
    for each in 1 2 3; do routes+="\"nats://127.0.0.1:$((base + 10 + each))\", "; done
    cat >"$folder/nats-$number.conf" <<CONFIG
server_name: nats-$number
listen: "$(server_address "$number")"
max_payload: 8MB
jetstream { store_dir: "$folder/nats-$number", sync_interval: always }
cluster { name: demo, listen: "127.0.0.1:$((base + 10 + number))", routes: [${routes%, }] }
CONFIG
    "$nats" -c "$folder/nats-$number.conf" >>"$folder/nats-$number.log" 2>&1 &
    servers[$number]=$!
}

all_servers="nats://$(server_address 1),nats://$(server_address 2),nats://$(server_address 3)"
cluster() { "$cuecast" cluster "$1" --servers "$all_servers" "${@:2}"; }

# Where a gateway is bound: the same after a restart.
port() { echo $((base + 20 + 10 * $1 + $2)); }

start_gateway() {
    local name="$1"
    http[$name]="127.0.0.1:$(port "$name" 4)"
    : >"$folder/ready-$name"
    "$cuecast" serve --data-dir "$folder/gateway-$name" --notices "tcp://127.0.0.1:$(port "$name" 1)" \
        --requests "tcp://127.0.0.1:$(port "$name" 2)" --broadcast "tcp://127.0.0.1:$(port "$name" 3)" --http "${http[$name]}" \
        --set "jetstream.servers=$all_servers" --set jetstream.syncAlways=true --set logLevel=critical >"$folder/ready-$name" &
    gateways[$name]=$!
}

is_ready() {
    kill -0 "${gateways[$1]}" 2>/dev/null || fail "gateway $1 did not start"
    grep -q '^ready' "$folder/ready-$1"
}

at_gateway() {
    local name="$1"
    shift
    CUECAST_NOTICES="tcp://127.0.0.1:$(port "$name" 1)" CUECAST_REQUESTS="tcp://127.0.0.1:$(port "$name" 2)" \
        CUECAST_BROADCAST="tcp://127.0.0.1:$(port "$name" 3)" CUECAST_HTTP="${http[$name]}" "$@"
}

say "1. Three servers of NATS start, and the streams of the log are made, each on all three"
for number in 1 2 3; do start_server "$number"; done
try_init() { cluster init >"$folder/init" 2>"$folder/init.err"; }
until_true "the servers have found each other ($(cat "$folder/init.err" 2>/dev/null))" try_init
cat "$folder/init"

say "2. Three gateways start on that log; they sign with the same keys"
start_gateway 1
until_true "gateway 1 is ready" is_ready 1
for name in 2 3; do
    mkdir -m 700 "$folder/gateway-$name"
    cp -p "$folder/gateway-1/signing.keys" "$folder/gateway-$name/"
    start_gateway "$name"
done
for name in 2 3; do until_true "gateway $name is ready" is_ready "$name"; done
cat "$folder"/ready-*

say "3. $((3 * listeners)) listeners, a third at each gateway"
for name in 1 2 3; do
    # The tool compares its own numbers with a report only where it knows one: here the three of them are compared together.
    CUECAST_HTTP=none CUECAST_NOTICES="tcp://127.0.0.1:$(port "$name" 1)" CUECAST_REQUESTS="tcp://127.0.0.1:$(port "$name" 2)" \
        CUECAST_BROADCAST="tcp://127.0.0.1:$(port "$name" 3)" \
        "$load" run --stream demo --listeners "$listeners" --follow --breaks 1 --speed 1 --patience "${patience}s" --json \
        >"$folder/load-$name.json" 2>"$folder/load-$name.err" &
    loads[$name]=$!
done
listening() {
    local sum=0 name
    for name in 1 2 3; do
        sum=$((sum + $(at_gateway "$name" "$cuecast" streams --json 2>/dev/null | grep -o '"listeners" *: *[0-9]*' | grep -o '[0-9]*$' | sort -n | tail -1 || echo 0)))
    done
    [ "$sum" -ge $((3 * listeners)) ]
}
until_true "all listeners have joined" listening
"$cuecast" gateways --data-dir "$folder/gateway-2"

say "4. A break is published at gateway 1"
at_gateway 1 "$cuecast" publish --stream demo --break welcome --vast Examples/two-ads.vast.xml --in 5s

say "5. In its middle, the server that leads the acknowledgements and gateway 2 are killed"
sleep 7 # The break begins 5 s after its publication; ads are being played now.
leader="$(cluster status --json | grep -o '"leader" *: *"nats-[0-9]"' | tail -1 | grep -o '[0-9]' || true)"
leader="${leader:-1}"
kill -9 "${servers[$leader]}" "${gateways[2]}"
wait "${servers[$leader]}" 2>/dev/null || true
wait "${gateways[2]}" 2>/dev/null || true
echo "killed: nats-$leader and gateway 2"
sleep 2
start_server "$leader"
start_gateway 2
until_true "gateway 2 is ready" is_ready 2
echo "started again: nats-$leader and gateway 2"

say "6. Every listener has its batch, and every outcome is confirmed"
status=0
for name in 1 2 3; do
    wait "${loads[$name]}" || status=$?
    unset "loads[$name]"
done
[ "$status" -eq 0 ] || {
    tail -n 20 "$folder"/load-*.err >&2
    grep -h -A12 '"findings"' "$folder"/load-*.json >&2 || true
    fail "a group of listeners has findings (exit code $status)"
}

say "7. The books"
expected=$((3 * listeners))
counted() {
    at_gateway "$1" "$cuecast" report --stream demo --format json >"$folder/report-$1.json" 2>/dev/null || return 1
    grep -q '"balanced" *: *true' "$folder/report-$1.json" && ! grep -q '"unknown" *: *[1-9]' "$folder/report-$1.json" \
        && grep -q "\"delivered\" *: *$expected\b" "$folder/report-$1.json"
}
for name in 1 2 3; do until_true "gateway $name has counted everything" counted "$name"; done
# By ad: what was counted, without what differs by nature (how far a ledger has read).
books() { grep -E '"(id|delivered|played|ignored|failed|unknown|contradictions)"' "$folder/report-$1.json"; }
for name in 2 3; do
    diff <(books 1) <(books "$name") >"$folder/difference" || {
        cat "$folder/difference" >&2
        fail "the books of gateway 1 and gateway $name differ"
    }
done
at_gateway 3 "$cuecast" report --stream demo

say "8. Everything stops"
for name in 1 2 3; do
    kill -TERM "${gateways[$name]}"
    wait "${gateways[$name]}" || fail "gateway $name ended with exit code $?"
done
gateways=()
echo "$expected listeners, two ads each: the books balance, and are the same at all three gateways."
