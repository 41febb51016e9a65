#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Shows breaks that begin outside of the gateway, in less than three minutes: a schedule from CSV whose ads come from an ad server for
# three audiences, an encoder's cue in HLS and in a transport stream, an early end, a radio trigger, a break by hand with a punch, and
# a cue that is cancelled, with 300 players. Checks the breaks, the report and the audit, and exits with 1 where something is wrong.
# Everything is in a temporary folder, and stops with this script.
#
#   DEMO_PATIENCE  how many seconds one step may take, for machines that are slow (default: 120)
set -euo pipefail
cd "$(dirname "$0")/.."
cuecast="${CUECAST_BIN:-$(swift build --show-bin-path)/cuecast}"
load="${CUECAST_LOAD_BIN:-$(dirname "$cuecast")/cuecast-load}"
patience="${DEMO_PATIENCE:-120}"
patience="${patience%s}"
export DEMO_PATIENCE="$patience"
tv_players=120
radio_players=80
command -v python3 >/dev/null || { echo "this demo needs python3: run scripts/setup.sh demo" >&2; exit 69; }
folder="$(mktemp -d -t cuecast-demo-broadcast.XXXXXX)"
# What must run until the end, and what comes to its end by itself.
pids=()
players=()
crowds=()

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then say() { printf '\n== %s\n' "$*"; }; fi

finish() {
    for pid in "${players[@]}" "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${players[@]}" "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Ends the demo with the reason, and with the last messages of its parts.
fail() {
    echo "$*" >&2
    for part in "$folder"/*.messages; do sed "s/^/   [$(basename "$part" .messages)] /" "$part" | tail -n 3 >&2; done
    exit 1
}

# Waits until a command succeeds. Arguments: a sentence for the case that it never does, then the command.
wait_until() {
    local sentence="$1" deadline=$((SECONDS + patience))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || fail "$sentence"
        for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || fail "a part of the demo ended by itself"; done
        sleep 0.2
    done
}

parts() { python3 -S scripts/demo_broadcast.py "$@"; }
# shellcheck source=scripts/demo-schedule.sh
. scripts/demo-schedule.sh
await() { parts await "$folder/$1.jsonl" "$2" "$3" || fail "step failed: $1 sends '$2'"; }
encoder() { printf '%s\n' "$*" >&3; }
# Whether so many players got every ad. Arguments: their number, then options of `cuecast report`.
have_ads() {
    local count="$1"
    shift
    [ "$("$cuecast" report "$@" --format json | parts delivered)" = "$count" ]
}
# Whether a break has come to a state. Arguments: its stream, the break, and the state.
is_in_state() { "$cuecast" breaks --stream "$1" --break "$2" --format json | grep -q "\"state\" : \"$3\""; }

# There before anybody looks into them: the parts begin when the machine lets them.
for part in ready encoding ad-server encoder.jsonl playlist.jsonl radio.jsonl traffic.jsonl requests.jsonl; do : >"$folder/$part"; done
for part in encoder playlist radio traffic; do : >"$folder/$part.messages"; done

say "1. A gateway starts. The studio, the traffic system and three watchers each have a key: so the audit says who asked"
for name in gateway studio traffic encoder playlist radio; do "$cuecast" keygen --out "$folder/$name" >"$folder/keygen"; done
make_tokens
broadcaster() { printf "{name: %s, streams: ['%s'], keys: ['%s']}" "$1" "$2" "$(cat "$folder/$1.pub")"; }
printf 'broadcasters: [%s, %s, %s, %s, %s]\n' "$(broadcaster studio '*')" "$(broadcaster traffic '*')" "$(broadcaster encoder tv)" \
    "$(broadcaster playlist tv)" "$(broadcaster radio radio)" >"$folder/broadcasters.yaml"
policy='tv list=spots duration=60s sources=encoder,playlist; radio list=spots duration=60s'
"$cuecast" serve --data-dir "$folder/data" --notices 'tcp://127.0.0.1:*' --requests 'tcp://127.0.0.1:*' \
    --broadcast 'tcp://127.0.0.1:*' --http 127.0.0.1:0 --set logLevel=warning --set "breaks.cues=$policy" \
    --set 'listeners.protectedStreams=web' --set listeners.tokenKeysFile="$folder/listeners.json" \
    --set 'listeners.attributes=web token=device,region' --set listeners.sessionsPerSubjectMax=0 \
    --set broadcasters.secretKeyFile="$folder/gateway.key" --set broadcasters.file="$folder/broadcasters.yaml" >"$folder/ready" &
gateway=$!
pids+=("$gateway")
wait_until "the gateway did not start" grep -q '^ready' "$folder/ready"
# The line names what the system chose: notices=… requests=… broadcast=… http=…
for pair in $(sed -n 's/^ready //p' "$folder/ready"); do
    case "$pair" in
        notices=*) export CUECAST_NOTICES="${pair#*=}" ;;
        requests=*) export CUECAST_REQUESTS="${pair#*=}" ;;
        broadcast=*) export CUECAST_BROADCAST="${pair#*=}" ;;
        http=*) export CUECAST_HTTP="${pair#*=}" ;;
    esac
done
export CUECAST_GATEWAY_KEY_FILE="$folder/gateway.pub" CUECAST_KEY_FILE="$folder/studio.key"
echo "   its dashboard: http://$CUECAST_HTTP/"
echo "   its cue policy: $policy"
cat >"$folder/ads.json" <<'JSON'
{"ads": [
    {"id": "spring-sale", "title": "Spring sale", "duration": "8s", "media": [{"url": "https://cdn.example.com/spring.mp4"}]},
    {"id": "city-bikes", "title": "City bikes", "duration": "8s", "media": [{"url": "https://cdn.example.com/bikes.mp4"}]}
]}
JSON
"$cuecast" lists put spots --ads "$folder/ads.json" | sed 's/^/   /'

say "2. The traffic system has breaks of the stream web. A dry run shows what each audience would hear; nothing is published"
start_ad_server
show_dry_run

say "3. The schedule is put in. The ad server is asked for each break and audience, and not for each player"
follow_schedule

players_count=$((tv_players + radio_players + web_players))
say "4. The watchers and $players_count players start: $tv_players of tv, $radio_players of radio, and $web_players of web in three audiences"
watch() {
    local source="$1"
    shift
    CUECAST_KEY_FILE="$folder/$source.key" "$cuecast" watch "$@" --source "$source" --json \
        >"$folder/$source.jsonl" 2>"$folder/$source.messages" &
    pids+=("$!")
}
watch encoder ts udp://127.0.0.1:0 --stream tv
wait_until "the watcher of the transport stream does not listen" grep -q 'Listens for datagrams at ' "$folder/encoder.messages"
transport="$(sed -n 's/.*Listens for datagrams at \([0-9.]*:[0-9]*\).*/\1/p' "$folder/encoder.messages")"
mkfifo "$folder/commands"
python3 -S scripts/demo_encoder.py "$transport" "$folder/broadcast.jsonl" <"$folder/commands" >"$folder/encoding" &
pids+=("$!")
exec 3>"$folder/commands"
wait_until "the encoder did not start" grep -q '^ready' "$folder/encoding"
source="http://$(sed -n 's/^ready http=//p' "$folder/encoding")"
watch playlist hls "$source/live.m3u8" --stream tv --allow-private
watch radio icecast "$source/radio.mp3" --stream radio --allow-private
echo "   an encoder's transport stream: udp://$transport"
echo "   the same programme in HLS:     $source/live.m3u8"
echo "   a radio stream:                $source/radio.mp3"
wait_until "the watcher of the transport stream found no cues" grep -q 'has cues on PID' "$folder/encoder.messages"
wait_until "the watcher of the radio heard nothing" grep -q 'no ads play' "$folder/radio.jsonl"
# Starts players. Arguments: what they are called, their stream, their number, how many breaks they wait for, and options.
crowd() {
    "$load" --stream "$2" --listeners "$3" --follow --breaks "$4" --speed 1 --patience "${patience}s" --json "${@:5}" \
        >"$folder/players-$1.json" 2>"$folder/players-$1.messages" &
    players+=("$!")
    crowds+=("$1")
}
crowd tv tv "$tv_players" 3
crowd radio radio "$radio_players" 1
for audience in "${audiences[@]}"; do
    crowd "$audience" web "${audience_players[$audience]}" 1 --listener-token-file "$folder/$audience.token"
done
listening() { [ "$("$cuecast" streams --json | parts listening)" = "$players_count" ]; }
wait_until "the players did not join" listening
echo "   all players listen"

say "5. The encoder announces a break of 40 s, in its transport stream and in HLS: both watchers see it, and it is one break"
encoder out 1001 10 40
await encoder out 1
echo "   The playlist has the mark with the first segment of the break, and so a few seconds later:"
await playlist out 1
wait_until "not all players got their ads" have_ads "$tv_players" --stream tv
"$cuecast" breaks --stream tv | sed 's/^/   /'

say "6. The programme is back early: the encoder ends the break before its 40 s are over"
encoder in 1001 4
await encoder in 1
await playlist in 1

say "7. The radio has no cues: its title says that ads play, and the next title ends them"
encoder title "START_AD_BREAK 30"
await radio out 1
sleep 10
wait_until "not all players of the radio got their ads" have_ads "$radio_players" --stream radio
encoder title "The Larks - Evening Song"
await radio in 1

say "8. The studio publishes a break by hand: the players fetch its ads and hold them, until the punch"
"$cuecast" publish --stream tv --break late-news --ads "$folder/ads.json" --cued | sed 's/^/   /'
wait_until "not all players hold the ads" have_ads "$tv_players" --stream tv --break late-news
echo "   all players hold the ads: now the punch"
"$cuecast" punch --stream tv --break late-news | sed 's/^/   /'
wait_until "the break late-news did not end" is_in_state tv late-news complete

say "9. The traffic log changes: its first break comes now, and each audience plays its own ads"
play_scheduled_break

say "10. The encoder announces another break, and takes it back when the players hold its ads already"
encoder out 1002 14 30
await encoder out 2
cancelled="$(parts break "$folder/encoder.jsonl")"
wait_until "not all players got the ads of $cancelled" have_ads "$tv_players" --stream tv --break "$cancelled"
encoder cancel 1002
await encoder cancel 1

say "11. The players report what they played, and the gateway's books are compared"
for crowd in "${crowds[@]}"; do
    player="${players[0]}"
    deadline=$((SECONDS + patience))
    while kill -0 "$player" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do sleep 0.2; done
    kill -0 "$player" 2>/dev/null && fail "the players $crowd did not come to their end"
    players=("${players[@]:1}")
    wait "$player" || fail "the players $crowd found: $(parts findings "$folder/players-$crowd.json")"
done
# The ledger follows the log: the report is right a moment later.
report() {
    "$cuecast" report --format json >"$folder/report.json"
    grep -q '"unknown" *: *[1-9]' "$folder/report.json" && return 1
    return 0
}
wait_until "the report has outcomes that nobody knows" report
"$cuecast" report | sed 's/^/   /'
echo
echo "   who asked for what, the newest first (the audit also has the bytes of each signal, which are left out here):"
"$cuecast" audit | sed -E 's/^/   /; s/ Raw: [^ ]+//'
"$cuecast" audit --format json >"$folder/audit.json"
"$cuecast" breaks --format json >"$folder/breaks.json"
echo
echo "   what this demo has checked:"
of_audiences=()
for audience in "${audiences[@]}"; do of_audiences+=("$audience=${audience_players[$audience]}"); done
parts check "$folder" "$tv_players" "$radio_players" "${of_audiences[@]}" || fail "something is not as it must be"

say "12. Everything stops"
kill -TERM "${pids[@]}"
for pid in "${pids[@]}"; do wait "$pid" || [ "$pid" != "$gateway" ] || fail "the gateway ended with a fault"; done
pids=()
echo "Everything is stopped; each break was there once, and the books balanced."
say "Next: do it with your encoder, your traffic system and your ad server"
echo "docs/broadcasters/from-your-encoder.md, from-a-transport-stream.md and from-icecast.md begin with a first watch of yours;"
echo "schedules.md, from-your-ad-server.md and audiences.md with your log, your ad tag and your listeners."
