#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and sends traffic of real programs through source, transit and sink.
set -eu
cd "$(dirname "$0")"
# shellcheck source=tools/setup.sh
. tools/setup.sh

usage() {
	cat <<-END
		usage: ./demo.sh [--seconds N] [--json]
		  --seconds N  length of the traffic, 3 to 60 (default 15)
		  --json       one JSON object on stdout, progress on stderr
	END
}

refuse() {
	say "$0: $*"
	usage >&2
	exit 2
}

seconds=15
json=()
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		usage
		exit 0
		;;
	--json) json=(--json) ;;
	--seconds)
		[ $# -gt 1 ] || refuse "--seconds: the number is missing"
		seconds=$2
		shift
		;;
	--seconds=*) seconds=${1#*=} ;;
	*) refuse "$1 is not known" ;;
	esac
	shift
done
[[ $seconds =~ ^[0-9]{1,2}$ ]] && ((10#$seconds >= 3 && 10#$seconds <= 60)) ||
	refuse "--seconds: $seconds is not 3 to 60"

need_root
install_packages "${DEMO_PACKAGES[@]}"
build build
exec "$PYTHON" demo/demo.py --seconds "$((10#$seconds))" "${json[@]}"
