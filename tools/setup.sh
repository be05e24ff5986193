# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# demo.sh and test.sh source this file. It installs what is missing and builds. All its output goes to
# stderr. Nothing is installed, configured or compiled twice.
# shellcheck disable=SC2034 # names for those who source this

# Debian's python3 has the distribution's zmq and scapy. Another python3 that is first on PATH may have neither.
readonly PYTHON=/usr/bin/python3

readonly BUILD_PACKAGES=(gcc libc6-dev meson ninja-build pkg-config libdpdk-dev libzmq3-dev
	libjansson-dev libcbor-dev libsodium-dev libpcap-dev libcurl4-openssl-dev libmicrohttpd-dev zlib1g-dev
	libcap-ng-dev libseccomp-dev libncurses-dev libcmocka-dev python3)
readonly DEMO_PACKAGES=(iproute2 ethtool iputils-ping iperf3 mgen python3-zmq procps curl)
readonly RESULTS_PACKAGES=("${DEMO_PACKAGES[@]}" python3-numpy python3-matplotlib)
readonly TEST_PACKAGES=("${RESULTS_PACKAGES[@]}" tcpreplay clang lld libclang-rt-14-dev clang-format git
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	dpdk-dev python3-jsonschema python3-scapy python3-pip python3-setuptools python3-venv python3-wheel lua5.3 systemd
	binutils valgrind tshark influxdb prometheus victoria-metrics man-db mandoc)

say() {
	printf '%s\n' "$*" >&2
}

die() {
	say "$0: $*"
	exit 1
}

setup_log='' # what the running step says
setup_job=''

stop_setup() {
	trap '' INT TERM HUP
	if [ -n "$setup_job" ]; then
		kill "$setup_job" 2>/dev/null || true
		wait "$setup_job" || true
	fi
	rm -f "$setup_log"
	say "stopped"
	exit 130
}

begin_log() {
	setup_log=$(mktemp)
	trap stop_setup INT TERM HUP
}

end_log() {
	rm -f "$setup_log"
	trap - INT TERM HUP
}

# Runs a command into the log, in the background, so that a signal need not wait for its end.
logged() {
	local status=0
	"$@" >"$setup_log" 2>&1 </dev/null &
	setup_job=$!
	wait "$setup_job" || status=$?
	setup_job=''
	return "$status"
}

# Lists the given packages that are not installed, one to a line.
missing_packages() {
	local package status
	for package in "$@"; do
		# shellcheck disable=SC2016 # the braces are dpkg-query's
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
		[ "$status" = installed ] || printf '%s\n' "$package"
	done
}

# Packages start no service when they are installed, because the tests run their own services.
readonly SERVICE_POLICY=/usr/sbin/policy-rc.d
apt_install() (
	if [ ! -e "$SERVICE_POLICY" ]; then
		trap 'rm -f "$SERVICE_POLICY"' EXIT
		printf '#!/bin/sh\nexit 101\n' >"$SERVICE_POLICY"
		chmod +x "$SERVICE_POLICY"
	fi
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
)

install_packages() {
	local missing
	command -v dpkg-query >/dev/null || die "needs Debian 12 (no dpkg here)"
	missing=$(missing_packages "${BUILD_PACKAGES[@]}" "$@")
	[ -n "$missing" ] || return 0
	# shellcheck disable=SC2086 # a list of words
	[ "$(id -u)" = 0 ] || die "not root, and these packages are missing:" $missing
	# shellcheck disable=SC2086
	say "installing:" $missing
	begin_log
	# This runs in the foreground: a terminal's Ctrl-C reaches apt-get itself, which ends cleanly.
	# shellcheck disable=SC2086
	if ! { DEBIAN_FRONTEND=noninteractive apt-get update &&
		apt_install $missing
	} >"$setup_log" 2>&1 </dev/null; then
		tail -n 20 "$setup_log" >&2
		die "the packages could not be installed (whole log: $setup_log)"
	fi
	end_log
}

# build DIR MESON_OPTION... [-- TARGET...]: configures once, then builds.
build() {
	local dir=$1
	shift
	local options=() targets=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || targets=("${@:2}")
	begin_log
	say "building $dir"
	if [ ! -f "$dir/build.ninja" ] &&
		! logged meson setup "${options[@]}" "$dir"; then
		tail -n 30 "$setup_log" >&2
		rm -rf "$dir"
		die "meson could not configure $dir (whole log: $setup_log)"
	fi
	if ! logged ninja -C "$dir" "${targets[@]}"; then
		grep -A 20 -E 'FAILED|error:' "$setup_log" | head -n 60 >&2
		die "$dir does not build (whole log: $setup_log)"
	fi
	end_log
}

need_root() {
	[ "$(id -u)" = 0 ] || die "needs root: it makes network namespaces and packet sockets"
}
