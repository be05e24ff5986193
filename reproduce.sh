#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes the papers' tables and figures to docs/results: ./reproduce.sh [000] ...
set -eu
cd "$(dirname "$0")"
# shellcheck source=tools/setup.sh
. tools/setup.sh

# Help needs nothing.
case " $* " in
"  " | *" 000 "* | *" 001 "* | *" 002 "* | *" 003 "* | *" 004 "* | *" --check "* | *" --live "* | *" --plots "*)
	install_packages "${RESULTS_PACKAGES[@]}"
	build build
	;;
esac
exec "$PYTHON" tools/reproduce/run.py "$@"
