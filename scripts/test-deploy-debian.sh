#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Tests the Debian package as somebody uses it who has never seen this folder: in a bare Debian 12 without Swift, first
# where no systemd runs, then where systemd is the first process. Needs root, for namespaces of mounts, processes and
# network: whatever happens, nothing that was started or mounted outlives the test, and its ports are its own.
#
#   scripts/test-deploy-debian.sh     tests .build/dist/cuecast_VERSION_ARCH.deb (make deb)
#
# The bare system is made once, from the machine's own mirror, and kept in .build-deploy.
set -euo pipefail

# The first process of the namespaces: mounts what a system expects, then becomes systemd, or waits.
if [ "${1:-}" = --first-process ]; then
    root="$2"
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    ip link set lo up
    if [ "$3" = systemd ]; then
        mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
        exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd \
            --system --log-target=console --show-status=no
    fi
    exec chroot "$root" sleep infinity
fi

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly release=bookworm
# How long anything may take before the test fails: what takes longer hangs.
readonly patience_seconds=600
[ "$(id -u)" -eq 0 ] || fail 77 "this needs root, for a bare Debian in namespaces of its own"
for tool in debootstrap unshare nsenter ip; do
    command -v "$tool" >/dev/null || fail 69 "there is no $tool; run: scripts/setup.sh deploy"
done
architecture="$(dpkg --print-architecture)"
version="$("$scratch/dist/cuecast" version 2>/dev/null | cut -d ' ' -f 2)" || true
deb="$scratch/dist/cuecast_${version}_$architecture.deb"
[ -f "$deb" ] || fail 66 "there is no package in $scratch/dist; run: make deb"
newer="$version+newer"
scripts/deb.sh --repack "$newer"
newer_deb="$scratch/dist/cuecast_${newer}_$architecture.deb"

folder="$(mktemp -d -t cuecast-deploy.XXXXXX)"
booted="" # `unshare`; with it ends everything in the namespaces
first=""  # the first process in them
close() {
    local status="$?"
    leave
    rm -rf --one-file-system -- "$folder" "$newer_deb"
    [ "$status" -eq 0 ] || echo "test-deploy-debian: failed with exit code $status" >&2
}
trap close EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n-- %s\n' "$*"; }

# Waits until a command succeeds.
await() {
    local deadline=$((SECONDS + patience_seconds))
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || fail 70 "waited in vain for: $*"
        sleep 0.1
    done
}

# A Debian with nothing but what it needs to start, as a folder.
make_base() {
    local base=".build-deploy/$release-$architecture" mirror new="$folder/base"
    if [ ! -f "$base.tar" ]; then
        say "making a bare Debian ($release), once"
        mirror="$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' "Created-By: Packages" |
            awk -v release="$release" '$1 == release { print $2; exit }')"
        mkdir -p .build-deploy
        debootstrap --variant=minbase --include=systemd,systemd-sysv "$release" "$new" \
            "${mirror:-http://deb.debian.org/debian}" >"$base.log" || fail 69 "debootstrap failed; see $base.log"
        # The machine's way to its mirror.
        apt-config dump | grep -E '^Acquire::.*::Proxy ' >"$new/etc/apt/apt.conf.d/90proxy" || true
        tar --create --numeric-owner --file "$base.tar.new" --directory "$new" .
        mv "$base.tar.new" "$base.tar"
        rm -rf --one-file-system "$new"
    fi
    mkdir "$1"
    tar --extract --numeric-owner --file "$base.tar" --directory "$1"
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    cp Examples/two-ads.vast.xml "$1/root/"
    cp "$deb" "$1/root/cuecast.deb"
    cp "$newer_deb" "$1/root/cuecast-newer.deb"
}

# Starts the namespaces around a root. Arguments: the root, `systemd` or `nothing` as the first process.
enter() {
    unshare --mount --pid --fork --kill-child --net --uts --ipc --cgroup -- \
        bash "scripts/$(basename "$0")" --first-process "$1" "$2" >"$folder/first.log" 2>&1 &
    booted="$!"
    await find_first "$2"
}
find_first() {
    kill -0 "$booted" || { cat "$folder/first.log" >&2; fail 70 "the namespaces could not be made"; }
    first="$(cat "/proc/$booted/task/$booted/children")"
    first="${first%% *}"
    case "$1" in
        systemd) [ "$(cat "/proc/$first/comm")" = systemd ] && inside systemctl is-system-running | grep -q running ;;
        *) [ "$(cat "/proc/$first/comm")" = sleep ] ;;
    esac
}
leave() {
    [ -n "$booted" ] || return 0
    kill -KILL "$booted" 2>/dev/null || true
    wait "$booted" 2>/dev/null || true
    booted=""
}

# Runs a command inside. `inside` has the root's own network, `online` the machine's: for apt.
within() {
    nsenter --target "$first" --mount --pid --uts --ipc --cgroup --root --wd=/root "${network[@]}" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
inside() { network=(--net); within "$@"; }
online() { network=(); within "$@"; }
as_cuecast() { inside runuser -u cuecast -- "$@"; }

# Plays one break to the end with a listener, until the books have counted it. Argument: the break.
play() {
    inside cuecast listen --stream radio1 --breaks 1 --speed 5 >"$folder/listen.log" 2>&1 &
    local listener="$!"
    inside cuecast publish --stream radio1 --break "$1" --vast two-ads.vast.xml --in 3s
    wait "$listener" || { cat "$folder/listen.log"; fail 70 "the listener failed"; }
    await counted "$1"
}
# Whether both advertisements of a break were played by its one listener, and so counted.
counted() {
    inside cuecast report --stream radio1 --break "$1" --format json |
        python3 -c 'import json, sys
ads = [ad for entry in json.load(sys.stdin)["breaks"] for ad in entry["ads"]]
sys.exit(0 if len(ads) == 2 and all(ad["delivered"] == ad["played"] == 1 for ad in ads) else 1)'
}
books() { inside cuecast report --stream radio1 --format csv; }

expect() { # What it is, what it must be, what it is found to be.
    [ "$2" = "$3" ] || fail 1 "$1: expected '$2' and found '$3'"
    echo "   $1: $3"
}

install_deb() { online apt-get install -y -q --no-install-recommends --allow-downgrades "$@" >"$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log"; fail 70 "apt-get install $* failed"; }; }
