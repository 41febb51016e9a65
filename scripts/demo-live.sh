#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Keeps a gateway with 50 simulated listeners on three streams running, with a break every 30 s on each, for people to look at
# on the dashboard, until Ctrl-C. Everything is in a temporary folder, and stops with this script.
#
#   DEMO_HTTP      where the dashboard is, as HOST:PORT (default: a free port of 127.0.0.1)
#   DEMO_EVERY     seconds between two breaks of a stream (default: 30)
#   DEMO_PATIENCE  how long listeners wait for an answer, for machines that are slow (default: 20s)
set -euo pipefail
cd "$(dirname "$0")/.."
cuecast="${CUECAST_BIN:-$(swift build --show-bin-path)/cuecast}"
load="${CUECAST_LOAD_BIN:-$(dirname "$cuecast")/cuecast-load}"
every="${DEMO_EVERY:-30}"
streams=(radio1 radio2 sports)
folder="$(mktemp -d -t cuecast-demo-live.XXXXXX)"
pids=()
pause=

finish() {
    for pid in "${pids[@]}" $pause; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT
# Both are how it is meant to end.
trap 'echo; echo "Stopping everything."; exit 0' INT TERM

# There before anybody looks into it: the gateway begins when the machine lets it.
: >"$folder/ready"
"$cuecast" serve --data-dir "$folder/data" --notices 'tcp://127.0.0.1:*' --requests 'tcp://127.0.0.1:*' \
    --broadcast 'tcp://127.0.0.1:*' --http "${DEMO_HTTP:-127.0.0.1:0}" --set logLevel=warning --set listeners.max=1000 >"$folder/ready" &
gateway=$!
pids+=("$gateway")
until grep -q '^ready' "$folder/ready"; do
    kill -0 "$gateway" 2>/dev/null || { echo "the gateway did not start" >&2; exit 1; }
    sleep 0.1
done
# The line names what the system chose: notices=… requests=… broadcast=… http=…
for pair in $(sed -n 's/^ready //p' "$folder/ready"); do
    case "$pair" in
        notices=*) export CUECAST_NOTICES="${pair#*=}" ;;
        requests=*) export CUECAST_REQUESTS="${pair#*=}" ;;
        broadcast=*) export CUECAST_BROADCAST="${pair#*=}" ;;
        http=*) export CUECAST_HTTP="${pair#*=}" ;;
    esac
done

cat >"$folder/ads.json" <<'JSON'
{"ads": [
    {"id": "spring-sale", "title": "Spring sale", "duration": "6s", "media": [{"url": "https://cdn.example.com/spring.mp3"}]},
    {"id": "city-bikes", "title": "City bikes", "duration": "6s", "media": [{"url": "https://cdn.example.com/bikes.mp3"}]},
    {"id": "coffee", "title": "Coffee at the corner", "duration": "6s", "media": [{"url": "https://cdn.example.com/coffee.mp3"}]}
]}
JSON

# Five crowds: each acknowledges when it has played, at a pace of its own, so that there is something to see all the time.
for speed in 0.9 1.2 1.8 3 6; do
    "$load" --stream "${streams[0]}" --stream "${streams[1]}" --stream "${streams[2]}" --listeners 10 --follow --breaks 1000000 \
        --speed "$speed" --patience "${DEMO_PATIENCE:-20s}" --json >"$folder/load-$speed" 2>&1 &
    pids+=("$!")
done

echo "dashboard: http://$CUECAST_HTTP/"
echo "To steer breaks there, enter the token of $folder/data/http-token. Ctrl-C ends it all."

number=0
while true; do
    number=$((number + 1))
    for stream in "${streams[@]}"; do
        for pid in "${pids[@]}"; do
            kill -0 "$pid" 2>/dev/null || { echo "a part of the demonstration ended by itself:" >&2; tail -n 5 "$folder"/load-* >&2; exit 1; }
        done
        # A break that was published on the dashboard may overlap; the next one follows.
        "$cuecast" publish --stream "$stream" --break "break-$number" --ads "$folder/ads.json" --in 8s >"$folder/published" 2>&1 \
            || cat "$folder/published" >&2
        # Waiting like this ends with a signal at once.
        sleep "$(awk "BEGIN { print $every / ${#streams[@]} }")" &
        pause=$!
        wait "$pause"
    done
done
