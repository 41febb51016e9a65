#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Checks the units in deploy/systemd: systemd finds nothing to warn of, and what the services are exposed to stays below
# `exposure_max` of systemd's scale from 0 to 10, in tenths.
#
#   scripts/check-unit.sh BINARY
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly exposure_max=20
binary="$(realpath "$1")"
folder="$(mktemp -d)"
trap 'rm -rf -- "$folder"' EXIT

# check NAME INSTANCE: a unit; of a template, the unit of an instance.
check() {
    local unit="$folder/$2" said
    # systemd wants to find the binary; the package has it elsewhere.
    sed "s|/usr/bin/cuecast|$binary|" "deploy/systemd/$1" >"$unit"
    # Also what it says and ends with 0 for. `man` must not look for pages that are not installed here.
    said="$(systemd-analyze verify --man=no "$unit" 2>&1)" || fail 65 "systemd refuses $1: $said"
    [ -z "$said" ] || fail 65 "systemd warns of $1: $said"
    systemd-analyze security --offline=true --no-pager --threshold="$exposure_max" "$unit" >"$folder/exposure" ||
        { cat "$folder/exposure"; fail 65 "$1 is exposed to more than $exposure_max tenths"; }
    echo "$1: $(grep 'Overall exposure' "$folder/exposure")"
}

check cuecast.service cuecast.service
check cuecast-watch@.service cuecast-watch@studio.service

# The service must give the gateway longer to stop than the gateway itself takes to answer what it promised.
drain="$("$binary" check-config | sed -nE 's/^drainTimeout: ([0-9]+)s$/\1/p')"
stop="$(sed -nE 's/^TimeoutStopSec=([0-9]+)$/\1/p' deploy/systemd/cuecast.service)"
[ "$stop" -ge $((drain + 30)) ] || fail 65 "TimeoutStopSec is $stop s, and drainTimeout is $drain s"
echo "check-unit: the units are right"
