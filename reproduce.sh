#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The papers' tables and figures, ours beside theirs, into docs/results: ./reproduce.sh [000] ...
set -eu
cd "$(dirname "$0")"
# shellcheck source=tools/setup.sh
. tools/setup.sh

# Help, and papers of systems that are not there yet, need nothing.
case " $* " in
"  " | *" 000 "* | *" --check "* | *" --live "* | *" --plots "*)
	install_packages "${RESULTS_PACKAGES[@]}"
	build build
	;;
esac
exec "$PYTHON" tools/reproduce/run.py "$@"
