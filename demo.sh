#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up, builds, and moves real traffic of real programs through source, transit and sink.
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

case " $* " in
*" --help "* | *" -h "*)
	usage
	exit 0
	;;
esac

need_root
install_packages "${DEMO_PACKAGES[@]}"
build build
exec "$PYTHON" demo/demo.py "$@"
