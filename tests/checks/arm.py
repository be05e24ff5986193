# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the data path, its codecs and the node for 64-bit Arm, with the warnings of meson.build as errors. Nothing of it
runs here: tools/arm.sh runs tests in an emulator. DPDK's headers for Arm come from Debian's package, into a
temporary folder. apt checks the package's signature, and the system's own lists stay as they are."""

import glob
import multiprocessing.pool
import os
import re
import shutil
import subprocess
import tempfile

from harness import ROOT, Skip, check, test

_COMPILER = "aarch64-linux-gnu-gcc"
_FOLDERS = ("lib/wire", "lib/telemetry", "src/flow", "src/datapath", "src/node")
_FLAGS = ("-O2", "-std=gnu17", "-march=armv8-a+crc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
          "-DALLOW_EXPERIMENTAL_API", "-include", "rte_config.h", "-c", "-o", "/dev/null")


def _warnings():
    """Returns the warnings of all folders, which are the first list of meson.build."""
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        first = re.search(r"get_supported_arguments\(\[(.*?)\]", f.read(), re.DOTALL)[1]
    found = re.findall(r"'(-W[\w-]+)'", first)
    check("-Wshadow" in found, "warnings", found)
    return found


def _said(*words, cwd=ROOT):
    """Returns what a command said if it failed, or an empty text."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    return done.stderr or f"{words[0]} ended with {done.returncode}" if done.returncode else ""


def _dpdk(folder):
    """Unpacks DPDK's headers for Arm into a folder. Returns their folder."""
    apt = ["apt-get", "-q", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64",
           "-o", f"Dir::State={folder}/state", "-o", "Dir::State::status=/dev/null", "-o", f"Dir::Cache={folder}/cache",
           "-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User=root"]
    for part in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, part))
    said = _said(*apt, "update") or _said(*apt, "download", "libdpdk-dev:arm64", cwd=folder)
    if said:
        raise Skip(f"no package of DPDK for Arm: {said}")
    said = _said("dpkg-deb", "-x", glob.glob(os.path.join(folder, "*.deb"))[0], folder)
    check(not said, said)
    return os.path.join(folder, "usr", "include")


def _include_flags(dpdk):
    folders = {os.path.dirname(path) for top in ("lib", "src")
               for path in glob.glob(os.path.join(ROOT, top, "**", "*.h"), recursive=True)}
    system = (os.path.join(dpdk, "dpdk"), os.path.join(dpdk, "aarch64-linux-gnu", "dpdk"))
    return [f"-I{folder}" for folder in sorted(folders)] + [f"-isystem{folder}" for folder in system]


@test(limit_s=300)
def the_data_path_compiles_for_arm():
    if not shutil.which(_COMPILER):
        raise Skip(f"no {_COMPILER}")
    sources = [path for folder in _FOLDERS
               for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True)]
    check(len(sources) > 50, "sources", len(sources))
    with tempfile.TemporaryDirectory() as folder:
        flags = [*_FLAGS, *_warnings(), *_include_flags(_dpdk(folder))]
        with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
            said = pool.map(lambda source: _said(_COMPILER, *flags, source), sources)
    check(not any(said), "\n".join(text for text in said if text))
