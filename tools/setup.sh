# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by demo.sh and test.sh: installs what is missing and builds. Everything it says goes to
# stderr; nothing is installed, configured or compiled twice.
# shellcheck disable=SC2034 # names for those who source this

# Debian's python3 has the distribution's zmq and scapy; another one first on PATH would not.
readonly PYTHON=/usr/bin/python3

readonly BUILD_PACKAGES=(gcc libc6-dev meson ninja-build pkg-config libdpdk-dev libzmq3-dev
	libjansson-dev libcbor-dev libcmocka-dev python3)
readonly DEMO_PACKAGES=(iproute2 ethtool iputils-ping iperf3 mgen python3-zmq procps)
readonly TEST_PACKAGES=("${DEMO_PACKAGES[@]}" clang libclang-rt-14-dev clang-format git
	dpdk-dev python3-scapy)

say() {
	printf '%s\n' "$*" >&2
}

die() {
	say "$0: $*"
	exit 1
}

# Those of the given packages that are not installed, one to a line.
missing_packages() {
	local package status
	for package in "$@"; do
		# shellcheck disable=SC2016 # the braces are dpkg-query's
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
		[ "$status" = installed ] || printf '%s\n' "$package"
	done
}

install_packages() {
	local missing log
	command -v dpkg-query >/dev/null || die "needs Debian 12 (no dpkg here)"
	missing=$(missing_packages "${BUILD_PACKAGES[@]}" "$@")
	[ -n "$missing" ] || return 0
	# shellcheck disable=SC2086 # a list of words
	[ "$(id -u)" = 0 ] || die "not root, and these packages are missing:" $missing
	# shellcheck disable=SC2086
	say "installing:" $missing
	log=$(mktemp)
	# shellcheck disable=SC2086
	if ! { DEBIAN_FRONTEND=noninteractive apt-get update &&
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
	} >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		die "the packages could not be installed (whole log: $log)"
	fi
	rm -f "$log"
}

# build DIR MESON_OPTION... [-- TARGET...]: configures once, then builds.
build() {
	local dir=$1 log
	shift
	local options=() targets=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || targets=("${@:2}")
	log=$(mktemp)
	say "building $dir"
	if [ ! -f "$dir/build.ninja" ] &&
		! meson setup "${options[@]}" "$dir" >"$log" 2>&1 </dev/null; then
		tail -n 30 "$log" >&2
		rm -rf "$dir"
		die "meson could not configure $dir (whole log: $log)"
	fi
	if ! ninja -C "$dir" "${targets[@]}" >"$log" 2>&1 </dev/null; then
		grep -A 20 -E 'FAILED|error:' "$log" | head -n 60 >&2
		die "$dir does not build (whole log: $log)"
	fi
	rm -f "$log"
}

need_root() {
	[ "$(id -u)" = 0 ] || die "needs root: it makes network namespaces and packet sockets"
}
