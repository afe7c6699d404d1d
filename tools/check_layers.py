#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Includes go one way: a folder may include only folders left of it, and must list them in its CMakeLists.txt."""
import re
import sys
import tempfile

import sources

# Folders in one tuple are neighbours: they may use each other as long as no circle arises.
LAYERS = [("base",), ("types",), ("graph",), ("ops",), ("kernel",), ("backend",), ("decorators",), ("tensor",),
          ("nn", "optim", "data", "store"), ("train",), ("dist",), ("apps",)]
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
# Headers of the operating system: only base/os, and tests, may know which system this is.
SYSTEM = re.compile(r"^(unistd\.h|fcntl\.h|dlfcn\.h|pthread\.h|sched\.h|poll\.h|signal\.h|csignal|termios\.h|dirent\.h|"
                    r"netdb\.h|syscall\.h|windows\.h|winsock2\.h|io\.h|sys/.*|netinet/.*|arpa/.*|linux/.*|mach/.*)$")


def folder_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "sinter" else None


def includes_of(text):
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def check_file(path, text, uses):
    """Problems of one file; adds the folders that it includes to `uses`."""
    folder = folder_of(path)
    for line, header in includes_of(text):
        where = f"{path}:{line}:"
        if SYSTEM.match(header) and not path.startswith("sinter/base/os") and not path.endswith("_test.cpp"):
            yield f"{where} <{header}> belongs to the operating system; call it through sinter/base/os"
        if header in ("sinter/sinter.hpp", "sinter/train.hpp") and folder not in ("apps", None):
            yield f"{where} {header} is for users; include the headers that are needed"
        target = folder_of(header)
        if target is None:
            if header.startswith("../") or header.startswith("./"):
                yield f'{where} "{header}" is relative; includes start at the root: "sinter/…"'
            continue
        if target not in RANK:
            yield f"{where} unknown folder sinter/{target}; add it to LAYERS in tools/check_layers.py"
        elif RANK[target] > RANK[folder]:
            yield f"{where} {folder} includes {header}, but {target} comes after {folder}: move the code down, or up"
        elif target != folder:
            uses.setdefault(folder, {}).setdefault(target, where)


def check_circles(uses):
    """Neighbours of one layer must not include each other in a circle."""
    def reach(start, goal, seen):
        return any(step == goal or (step not in seen and not seen.add(step) and reach(step, goal, seen))
                   for step in uses.get(start, {}))
    for layer in LAYERS:
        for folder in layer:
            if reach(folder, folder, set()):
                yield f"sinter/{folder}: includes itself through {', '.join(sorted(uses[folder]))}"


def check_cmake(root, uses, present):
    """DEPENDS must cover what is included, directly or through another folder."""
    depends = {}
    for folder in present:
        path = f"sinter/{folder}/CMakeLists.txt"
        call = re.search(r"sinter_folder\(\s*" + folder + r"\b([^)]*)\)", sources.read(root, path))
        names = re.search(r"\bDEPENDS\s+([^)]*)", call.group(1)) if call else None
        listed = re.split(r"\b[A-Z_]{4,}\b", names.group(1))[0].split() if names else []
        depends[folder] = [name for name in listed if name in RANK] if call else None
    def closure(folder, seen):
        for name in depends.get(folder) or []:
            if name not in seen:
                seen.add(name)
                closure(name, seen)
        return seen
    for folder, targets in uses.items():
        if depends.get(folder) is None:
            continue
        for name in depends[folder]:
            if RANK[name] > RANK[folder]:
                yield f"sinter/{folder}/CMakeLists.txt:1: DEPENDS {name}, which comes after {folder}"
        for target, where in targets.items():
            if target in depends and target not in closure(folder, set()):
                yield f"{where} {folder} includes {target}, which DEPENDS in its CMakeLists.txt doesn't list"


def check(root):
    problems, uses, count = [], {}, 0
    paths = [path for path in sources.files(root, sources.CODE) if folder_of(path)]
    for path in paths:
        if folder_of(path) not in RANK:
            problems.append(f"{path}:1: unknown folder; add it to LAYERS in tools/check_layers.py")
            continue
        count += 1
        problems += check_file(path, sources.without_comments(sources.read(root, path)), uses)
    problems += check_circles(uses)
    present = [path.split("/")[1] for path in sources.files(root, "CMakeLists.txt")
               if path.count("/") == 2 and folder_of(path) in RANK]
    problems += check_cmake(root, uses, present)
    return sources.report("layers", problems, f"{count} files, {len(uses)} folders with includes")


def self_test():
    def problems(tree):
        uses, found = {}, []
        for path, text in tree.items():
            found += check_file(path, sources.without_comments(text), uses)
        return found + list(check_circles(uses))
    up = problems({"sinter/types/a.hpp": '#include "sinter/base/x.hpp"\n#include "sinter/nn/y.hpp"\n'})
    assert len(up) == 1 and "a.hpp:2:" in up[0], up
    assert not problems({"sinter/types/a.hpp": '// #include "sinter/nn/y.hpp"\n'})
    assert problems({"sinter/nn/a.cpp": "#include <unistd.h>\n"})
    assert not problems({"sinter/base/os/a.cpp": "#include <unistd.h>\n"})
    assert not problems({"sinter/nn/a_test.cpp": "#include <unistd.h>\n"})
    assert problems({"sinter/nn/a.cpp": "#include <sinter/sinter.hpp>\n"})
    assert problems({"sinter/nn/a.cpp": '#include "../base/x.hpp"\n'})
    assert not problems({"sinter/optim/a.cpp": '#include "sinter/nn/x.hpp"\n'})
    assert problems({"sinter/optim/a.cpp": '#include "sinter/nn/x.hpp"\n',
                     "sinter/nn/a.cpp": '#include "sinter/optim/x.hpp"\n'}), "a circle of neighbours"
    with tempfile.TemporaryDirectory() as root:
        sources.write_tree(root, {"sinter/base/CMakeLists.txt": "sinter_folder(base)\n",
                                  "sinter/types/CMakeLists.txt": "sinter_folder(types PACKAGES fmt::fmt)\n"})
        uses = {"types": {"base": "sinter/types/a.hpp:1:"}}
        assert len(list(check_cmake(root, uses, ["base", "types"]))) == 1
        sources.write_tree(root, {"sinter/types/CMakeLists.txt": "sinter_folder(types DEPENDS base PACKAGES x::y)\n"})
        assert not list(check_cmake(root, uses, ["base", "types"]))


if __name__ == "__main__":
    sys.exit(sources.main(check, self_test))
