# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the source itself, which need no build: layers, headers, format, house rules."""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import arm  # noqa: E402,F401 its test is run here
import bench_figures  # noqa: E402,F401 its tests are run here
import bench_linux  # noqa: E402,F401 and its
import bench_peers  # noqa: E402,F401 and its
import bench_processes  # noqa: E402,F401 and its
import bench_tools  # noqa: E402,F401
import circles  # noqa: E402
import dissector  # noqa: E402,F401
import documents  # noqa: E402,F401 and its
import elf  # noqa: E402,F401
import exports  # noqa: E402
import layering  # noqa: E402
import looks  # noqa: E402,F401
import results  # noqa: E402,F401
import rivals  # noqa: E402,F401
import schemas  # noqa: E402,F401
import section_4  # noqa: E402,F401
import units  # noqa: E402,F401
from harness import ROOT, Skip, check, equal, main, test  # noqa: E402

_COMMENT = {".c": "//", ".h": "//", ".def": "//", ".py": "#", ".sh": "#", ".build": "#"}


def tracked():
    """Returns the files of the repository, with new files and without ignored ones."""
    listing = subprocess.run(
        ["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached",
         "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode:
        raise Skip("not a git checkout")
    paths = [p for p in listing.stdout.split("\0") if p]
    return [p for p in paths if os.path.isfile(os.path.join(ROOT, p))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def none_of(problems):
    problems = list(problems)
    for problem in problems:
        print(problem)
    check(not problems, f"{len(problems)} found:", "; ".join(problems[:3]))


@test()
def no_folder_includes_a_header_that_it_may_not_see():
    none_of(layering.violations(ROOT))


PLANTED = [
    ("lib/wire", '#include "report.h"', "lib/wire may not see lib/report"),
    ("lib/base", '#include "port.h"', "lib/base may not see src/platform"),
    ("src/flow", '#include "node.h"', "src/flow may not see src/node"),
    ("src/datapath", '#include "flexint.h"', "src/datapath may not see lib/telemetry/flexint"),
    ("src/datapath/flexint", '#include "api.h"', "src/datapath/flexint may not see lib/api"),
    ("lib/qos", "#include <rte_mbuf.h>", "DPDK stays out of lib/"),
    ("src/control/in_band", '#include "control.h"',
     "src/control/in_band may not see src/control"),
    ("src/control", "#include <zmq.h>", "lib/bus alone knows ZeroMQ"),
    ("src/datapath", "#include <jansson.h>", "the data path knows no JSON"),
    ("src/node", '#include "../../lib/wire/packet.h"', "our headers are included by bare name"),
    ("lib/other", "#include <stdint.h>", "has no row in the table of layers"),
]


@test()
def a_planted_wrong_include_is_caught(workspace):
    for number, (folder, line, complaint) in enumerate(PLANTED):
        root = workspace.path(f"tree{number}")
        for owner in ("lib", "src"):
            shutil.copytree(os.path.join(ROOT, owner), os.path.join(root, owner))
        before = set(layering.violations(root))
        os.makedirs(os.path.join(root, folder), exist_ok=True)
        with open(os.path.join(root, folder, "planted.c"), "w", encoding="ascii") as f:
            f.write(line + "\n")
        new = set(layering.violations(root)) - before
        equal(len(new), 1, f"complaints about {line} in {folder}")
        check(complaint in new.pop(), folder, line)


@test()
def no_folders_and_no_parts_of_a_folder_use_each_other():
    none_of(" <-> ".join(ring) for ring in circles.between_folders(ROOT))
    none_of(f"{folder}: {', '.join(ring)} use each other" for folder, ring in
            circles.in_folders(ROOT))


# Files of a folder, and the parts that the check must find in a circle.
CIRCLES = [
    ("lib/a", {"x.c": '#include "x.h"\n#include "y.h"\n', "x.h": "", "y.c": '#include "y.h"\n',
               "y.h": '#include "x.h"\n'}, ["x", "y"]),
    # Each calls the other, and the header that all of them share does not show it.
    ("lib/a", {"all.h": "int hs_x(int a);\nint hs_y(int a);\n",
               "x.c": '#include "all.h"\nint hs_x(int a)\n{\n\treturn hs_y(a);\n}\n',
               "y.c": '#include "all.h"\nint hs_y(int a)\n{\n\treturn hs_x(a);\n}\n'},
     ["x", "y"]),
    ("src/node", {"x.c": '#include "x.h"\nvoid hs_x(void)\n{\n\ths_y();\n}\n', "x.h": "",
                  "y.c": '#include "x.h"\nvoid hs_y(void)\n{\n\ths_z();\n}\n',
                  "z.c": '#include "x.h"\nvoid hs_z(void)\n{\n\ths_x();\n}\n'},
     ["x.c", "y.c", "z.c"]),
    # A header and its implementation are one part for includes, in every folder.
    ("src/node", {"x.c": '#include "y.h"\n', "x.h": "", "y.c": "", "y.h": '#include "x.h"\n'},
     ["x", "y"]),
    ("lib/a", {"x.c": '#include "x.h"\n#include "y.h"\nvoid hs_x(struct hs_y *y)\n{\n}\n',
               "x.h": "", "y.c": '// hs_x()\nstatic struct hs_x *hs_y(void)\n{\n}\n', "y.h": ""},
     []),
]


@test()
def a_planted_circle_is_caught(workspace):
    for number, (folder, files, ring) in enumerate(CIRCLES):
        root = workspace.path(f"circle{number}")
        os.makedirs(os.path.join(root, folder))
        for name, text in files.items():
            with open(os.path.join(root, folder, name), "w", encoding="ascii") as f:
                f.write(text)
        equal([r for _, r in circles.in_folders(root)], [ring] if ring else [], f"case {number}")
    equal(circles.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}), [["b", "c"]],
          "what leads to a circle is not in it")


@test()
def two_folders_that_include_each_other_are_caught(workspace):
    root = workspace.path("folders")
    for folder, name, other in (("lib/a", "x.h", "y.h"), ("src/b", "y.h", "x.h")):
        os.makedirs(os.path.join(root, folder))
        with open(os.path.join(root, folder, name), "w", encoding="ascii") as f:
            f.write(f'#include "{other}"\n')
    equal(circles.between_folders(root), [["lib/a", "src/b"]], "folders")


@test()
def no_function_is_exported_for_tests_alone():
    equal(exports.uncalled({
        "lib/a/x.h": "int hs_x_get(int a);\nstatic inline int hs_x_two(int a)\n{\n"
                     "\treturn hs_x_one(a);\n}\nint hs_x_one(int a);\ntypedef int hs_x_fn(int a);\n",
        "lib/a/x.c": "int hs_x_get(int a)\n{\n\treturn a;\n}\nint hs_x_one(int a)\n{\n}\n",
        "src/b/y.c": "// hs_x_two(1)\nstatic int y(void)\n{\n\treturn hs_x_get(1);\n}\n",
    }), [("lib/a/x.h", "hs_x_two")], "self-test")
    none_of(f"{path}: no program calls {name}" for path, name in exports.for_tests_alone(ROOT))


def _include_flags():
    folders = sorted({os.path.dirname(p) for p in layering.sources(ROOT)})
    packages = ["libdpdk", "libzmq", "jansson", "libcbor", "libsodium"]
    flags = subprocess.run(["pkg-config", "--cflags", *packages], capture_output=True, text=True,
                           check=False)
    if flags.returncode:
        raise Skip("libraries are not installed")
    own = {f: [f"-I{os.path.join(ROOT, d)}" for d in [f, *layering.ALLOWED.get(f, [])]]
           for f in folders}
    return own, [f.replace("-I", "-isystem", 1) for f in shlex.split(flags.stdout)]


@test(limit_s=240)
def each_header_compiles_alone_with_its_own_layers_only(workspace):
    own, foreign = _include_flags()

    def problem(path):
        source = workspace.path(f"{path.replace('/', '-')}.c")
        with open(source, "w", encoding="ascii") as f:
            f.write(f'#include "{os.path.basename(path)}"\n')
        run = subprocess.run(
            ["gcc", "-std=gnu17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
             "-Wno-missing-field-initializers", "-D_GNU_SOURCE", "-DALLOW_EXPERIMENTAL_API",
             *own[os.path.dirname(path)], *foreign, "-march=x86-64-v2", source],
            capture_output=True, text=True, check=False)
        said = [line for line in run.stderr.splitlines() if "error:" in line]
        return run.returncode and f"{path}: {(said or [run.stderr.strip()])[0]}"

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        headers = [path for path in layering.sources(ROOT) if path.endswith(".h")]
        none_of(filter(None, pool.map(problem, headers)))


@test()
def header_names_are_unique_across_the_tree():
    none_of(f"{name} is in {', '.join(folders)}"
            for name, folders in layering.headers(ROOT).items() if len(folders) > 1)


@test()
def each_source_file_names_its_licence_first():
    problems = []
    for path in tracked():
        mark = _COMMENT.get(os.path.splitext(path)[1])
        if mark is None:
            continue
        first = [line for line in read(path).splitlines() if not line.startswith("#!")][:1]
        if first != [f"{mark} SPDX-License-Identifier: BSD-3-Clause"]:
            problems.append(path)
    none_of(problems)


_FUNCTION_END = re.compile(r"^}\s*$")
_FUNCTION_HEAD = re.compile(r"^[A-Za-z_][^;=#]*\(")


def functions(text):
    """Yields (name, lines) of each function. House style puts its braces in the first column."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line != "{":
            continue
        head = i - 1
        while head > 0 and not _FUNCTION_HEAD.match(lines[head]):
            head -= 1
        end = next((k for k in range(i, len(lines)) if _FUNCTION_END.match(lines[k])), len(lines))
        name = re.findall(r"(\w+)\s*\(", lines[head])
        yield (name[0] if name else "?"), end - head + 1


@test()
def no_function_is_longer_than_48_lines_or_80_in_tests():
    equal(list(functions("static int f(int a)\n{\n\treturn a;\n}\n")), [("f", 4)], "self-test")
    problems = []
    for path in tracked():
        if path.endswith((".c", ".h")):
            problems += [f"{path}: {name} has {n} lines" for name, n in functions(read(path))
                         if n > (80 if path.startswith("tests/") else 48)]
    none_of(problems)


@test()
def layout_is_what_clang_format_makes_it():
    if not shutil.which("clang-format"):
        raise Skip("clang-format is not installed")
    paths = [p for p in tracked() if p.endswith((".c", ".h"))]
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=ROOT,
                         capture_output=True, text=True, check=False)
    none_of(sorted({line.split(":")[0] for line in run.stderr.splitlines() if ": error:" in line}))


@test()
def only_line_comments_and_no_typedef_of_structs():
    problems = []
    for path in tracked():
        if not path.endswith((".c", ".h", ".def")):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            bare = re.sub(r'"(\\.|[^"\\])*"', '""', line)
            if "/*" in bare.split("//")[0] or re.match(r"\s*typedef\s+(struct|union|enum)\b", bare):
                problems.append(f"{path}:{number}")
    none_of(problems)


@test()
def no_file_knows_the_machine_that_it_was_written_on():
    words = re.compile(r"(^|[^A-Za-z0-9_.$}])/(home|Users|root|work|mnt|workspace)/[a-z]")
    problems = []
    for path in tracked():
        for number, line in enumerate(read(path).splitlines(), 1):
            if words.search(line):
                problems.append(f"{path}:{number}: {line.strip()[:80]}")
    none_of(problems)


@test()
def file_names_need_no_quotes():
    """A shell's slip makes a file called "&1", and `git add -A` takes it in."""
    none_of(path for path in tracked() if not re.fullmatch(r"[A-Za-z0-9_./@-]+", path))


@test()
def every_json_file_of_the_tree_parses():
    problems = []
    for path in tracked():
        if path.endswith(".json") and not path.startswith("tests/golden/"):
            try:
                json.loads(read(path))
            except ValueError as error:
                problems.append(f"{path}: {error}")
    none_of(problems)


@test()
def every_script_of_the_tree_parses():
    problems = []
    for path in tracked():
        first = read(path).split("\n", 1)[0]
        if path.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", first):
            run = subprocess.run(["bash", "-n", path], cwd=ROOT, capture_output=True, text=True,
                                 check=False)
            problems += [f"{path}: {run.stderr.strip()}"] if run.returncode else []
        elif path.endswith(".py"):
            try:
                compile(read(path), path, "exec")
            except SyntaxError as error:
                problems.append(f"{path}: {error}")
    none_of(problems)


if __name__ == "__main__":
    sys.exit(main())
