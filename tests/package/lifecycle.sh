#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The life of the packages on a machine, with a node that keeps a rule in its state:
#   lifecycle.sh FOLDER
# FOLDER/first has the packages. run.sh calls this script where it may change the machine.
set -u
# shellcheck source=tests/package/check.sh
. "$(dirname "$0")/check.sh"
work=$1
readonly PACKAGES=(hopsight hopsight-lab hopsight-doc python3-hopsight)
readonly ENDPOINT=ipc:///run/hopsight/west.api
readonly CONFIG=/etc/hopsight/west.json
readonly STATE=/var/lib/hopsight/west.state
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
node=''

# The same content under a higher version is what an upgrade needs.
make_next_version() {
	local package
	mkdir "$work/next"
	for package in "${PACKAGES[@]}"; do
		rm -rf "$work/repack"
		dpkg-deb -R "$work"/first/"${package}"_*.deb "$work/repack" &&
			sed -i 's/^Version: .*/&+next/' "$work/repack/DEBIAN/control" &&
			dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/repack" "$work/next/${package}.deb" || return 1
	done
}

install_all() {
	apt-get install -y --no-install-recommends --allow-downgrades "$@"
}

installed_version() {
	[ "$(dpkg-query -W -f '${Version}' hopsight)" = "$1" ]
}

programs_are_there() {
	local program
	for program in hopsight hopsightd hopsight-controller hopsight-collector hopsight-lab hopsight-bench; do
		[ "$(command -v "$program")" = "/usr/bin/$program" ] && "$program" --version &&
			man -w "$program" && [ -s "/usr/share/bash-completion/completions/$program" ] || return 1
	done
	man -w 5 hopsight.json && [ -s /usr/share/doc/hopsight/docs/operating.md ] &&
		hopsight-lab check paper-loss-constant && hopsight-bench --list
}

# No service manager runs here, so that no unit can be started.
units_are_right() {
	systemd-analyze verify hopsightd.service hopsightd@west.service hopsight-controller.service \
		hopsight-collector.service && [ -z "$(find /etc/systemd -name 'hopsight*')" ]
}

user_and_folders_are_there() {
	getent passwd hopsight && [ "$(stat -c '%U:%G %a' /run/hopsight)" = "root:hopsight 755" ] &&
		[ -d /var/lib/hopsight ] && [ -d /etc/hopsight ]
}

examples_are_right() {
	local file
	for file in first second bridge route; do
		hopsightd --print-config --config "/usr/share/doc/hopsight/examples/$file.json" >/dev/null || return 1
	done
}

# A node with two ports that no cable leads to, and a state.
write_config() {
	cat >"$CONFIG" <<-EOF
		{"node": {"id": 1, "name": "west"}, "memory": {"rules": 1024, "mbufs": 4096},
		 "ports": [{"name": "a", "devargs": "net_ring0", "side": "host"},
		           {"name": "b", "devargs": "net_ring1", "side": "network"}],
		 "forwarding": {"mode": "patch", "pairs": [["a", "b"]]}, "state": {"file": "$STATE"}}
	EOF
	hopsightd --config "$CONFIG" --check
}

start_node() {
	hopsightd --config "$CONFIG" >"$work/node.log" 2>&1 &
	node=$!
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		hopsight -c "$ENDPOINT" -t 1 hello 2>/dev/null && return 0
		kill -0 "$node" || break
		sleep 0.1
	done
	cat "$work/node.log"
	return 1
}

# Debian's python3 finds the client of the package, and the client the node.
python_client_answers() {
	/usr/bin/python3 -c '
import sys, hopsight
assert hopsight.__file__ == "/usr/lib/python3/dist-packages/hopsight/__init__.py", hopsight.__file__
with hopsight.Client(sys.argv[1]) as node:
    assert node.hello()["name"] == "west"' "$ENDPOINT" &&
		[ -e /usr/lib/python3/dist-packages/hopsight/py.typed ]
}

stop_node() {
	kill "$node" && wait "$node"
}

add_rule() {
	hopsight -c "$ENDPOINT" rule add --ns 4711 --src 2001:db8::1 --dst 2001:db8::2 --proto udp --trace 0x7000E000 \
		--mode count --setting 10
}

# change_version PACKAGE...: another version takes over the state of the node.
change_version() {
	stop_node && install_all "$@" && start_node &&
		hopsight -c "$ENDPOINT" --json rule show 4711 | grep '2001:db8::2'
}

remove_all() {
	stop_node && apt-get remove -y "${PACKAGES[@]}" && [ ! -e /usr/bin/hopsightd ] && [ -s "$STATE" ]
}

purge_all() {
	apt-get purge -y "${PACKAGES[@]}" && [ ! -e /var/lib/hopsight ] && [ -s "$CONFIG" ] && rm -r /etc/hopsight &&
		! find /usr/bin /usr/lib /usr/share /lib/systemd /etc -name '*hopsight*' | grep .
}

version=$(dpkg-deb -f "$work"/first/hopsight_*.deb Version)
check "the packages can be installed" install_all "$work"/first/*.deb
check "programs, pages, completion and documents are there" programs_are_there
check "the units are right and not enabled" units_are_right
check "user, group and folders are there" user_and_folders_are_there
check "the examples are right" examples_are_right
check "the configuration is right" write_config
check "a node starts" start_node
check "a rule is added" add_rule
check "the Python client of its package asks the node" python_client_answers
check "a higher version can be made" make_next_version
check "an upgrade keeps the state" change_version "$work"/next/*.deb
check "the higher version is installed" installed_version "$version+next"
check "a downgrade keeps the state" change_version "$work"/first/*.deb
check "the lower version is installed" installed_version "$version"
check "removed packages leave the state" remove_all
check "purged packages leave what the administrator wrote" purge_all
[ "$failed" = 0 ]
