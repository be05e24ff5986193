#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The papers' tables and figures, ours beside theirs, into docs/results: ./reproduce.sh [000] ...
set -eu
cd "$(dirname "$0")"
# shellcheck source=tools/setup.sh
. tools/setup.sh

case " $* " in
*" -h "* | *" --help "*) exec "$PYTHON" tools/reproduce/run.py --help ;;
esac
install_packages "${RESULTS_PACKAGES[@]}"
build build
exec "$PYTHON" tools/reproduce/run.py "$@"
