# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# The part of scripts/demo-broadcast.sh about a schedule, an ad server and audiences. It is read by that script, and uses its functions
# and variables.

# The audiences of the stream web, with their players and the attributes of their tokens.
audiences=(default cars abroad)
declare -A audience_players=([default]=40 [cars]=35 [abroad]=25)
declare -A audience_attributes=([default]='device=phone region=no' [cars]='device=car region=no' [abroad]='device=phone region=us')
web_players=0
for audience in "${audiences[@]}"; do web_players=$((web_players + audience_players[$audience])); done

schedule() { python3 -S scripts/demo_schedule.py "$1" "$folder" "${@:2}"; }

# The keys of listeners, and a token for each audience.
make_tokens() {
    local audience attribute attributes
    "$cuecast" token new-keys --out "$folder/listeners-secret.json" >"$folder/keygen"
    "$cuecast" token public --keys "$folder/listeners-secret.json" >"$folder/listeners.json"
    for audience in "${audiences[@]}"; do
        attributes=()
        for attribute in ${audience_attributes[$audience]}; do attributes+=(--attribute "$attribute"); done
        (umask 077 && "$cuecast" token make --keys "$folder/listeners-secret.json" --subject "$audience" --stream web --expires-in 2h \
            "${attributes[@]}" >"$folder/$audience.token")
    done
}

start_ad_server() {
    python3 -S scripts/demo_ad_server.py "$folder/requests.jsonl" >"$folder/ad-server" &
    pids+=("$!")
    wait_until "the ad server did not start" grep -q '^ready' "$folder/ad-server"
    ad_server="$(sed -n 's/^ready http=//p' "$folder/ad-server")"
    cat >"$folder/travel.json" <<'JSON'
{"ads": [{"id": "trains", "title": "Northern trains", "duration": "8s", "media": [{"url": "https://cdn.example.com/trains.mp3"}]}]}
JSON
    "$cuecast" lists put travel --ads "$folder/travel.json" | sed 's/^/   /'
    schedule write "$ad_server"
    # No time passes for an ad server on this machine, which may be slow.
    asking=(--ask-ad-servers --allow-private --ad-server-time 60s --ad-server-connect-time 60s)
    day=("$folder/day.csv" --stream web --time-zone "$(schedule zone)" --list spots --variants "$folder/variants.json")
}

has_no_breaks() { [ "$("$cuecast" breaks --stream "$1" --format json | tr -d ' \n')" = '[]' ]; }

# What each audience would hear, before anything is published.
show_dry_run() {
    sed 's/^/   /' "$folder/day.csv"
    echo
    "$cuecast" dry-run day "${day[@]}" "${asking[@]}" | sed 's/^/   /'
    has_no_breaks web || fail "the dry run has published a break"
}

filled() { [ "$(grep -c '"change":"filled"' "$folder/traffic.jsonl")" -ge 2 ]; }

# Shows the difference, then follows the file: each break is filled at once, since all are nearer than six hours.
follow_schedule() {
    CUECAST_KEY_FILE="$folder/traffic.key" "$cuecast" schedule put "${day[@]}" 2>&1 | sed 's/^/   /'
    CUECAST_KEY_FILE="$folder/traffic.key" "$cuecast" schedule follow "${day[@]}" "${asking[@]}" --fill-ahead 6h --json \
        >"$folder/traffic.jsonl" 2>"$folder/traffic.messages" &
    pids+=("$!")
    wait_until "the follower did not fill the breaks" filled
    sed 's/^/   /' "$folder/traffic.messages"
    schedule asked || fail "the ad server was not asked as it must be"
    "$cuecast" breaks --stream web | sed 's/^/   /'
}

# The file changes, and its first break plays.
play_scheduled_break() {
    schedule move || fail "the schedule could not be changed"
    scheduled="$(schedule first)"
    wait_until "the break $scheduled did not end" is_in_state web "$scheduled" complete
}
