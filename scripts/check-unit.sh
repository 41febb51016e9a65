#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Checks deploy/systemd/cuecast.service: systemd finds nothing to warn of, and what the service is exposed to stays below
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
# systemd wants to find the binary; the package has it elsewhere.
sed "s|/usr/bin/cuecast|$binary|" deploy/systemd/cuecast.service >"$folder/cuecast.service"
# Also what it says and ends with 0 for. `man` must not look for pages that are not installed here.
said="$(systemd-analyze verify --man=no "$folder/cuecast.service" 2>&1)" || fail 65 "systemd refuses the unit: $said"
[ -z "$said" ] || fail 65 "systemd warns of the unit: $said"
systemd-analyze security --offline=true --no-pager --threshold="$exposure_max" "$folder/cuecast.service" >"$folder/exposure" ||
    { cat "$folder/exposure"; fail 65 "the service is exposed to more than $exposure_max tenths"; }
grep 'Overall exposure' "$folder/exposure"

# The service must give the gateway longer to stop than the gateway itself takes to answer what it promised.
drain="$("$binary" check-config | sed -nE 's/^drainTimeout: ([0-9]+)s$/\1/p')"
stop="$(sed -nE 's/^TimeoutStopSec=([0-9]+)$/\1/p' deploy/systemd/cuecast.service)"
[ "$stop" -ge $((drain + 30)) ] || fail 65 "TimeoutStopSec is $stop s, and drainTimeout is $drain s"
echo "check-unit: the unit is right"
