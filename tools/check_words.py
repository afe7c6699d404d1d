#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Words that must not stand in the project: somebody's paths, unfinished work, and calls a library must not make."""
import re
import sys

import sources

TEXT = sources.CODE + (".py", ".cmake", ".txt", ".md", ".json", ".sh", "dev", ".ci/run")
SELF = "tools/check_words.py"

# (what to find, where it counts, why not)
EVERYWHERE = [
    (re.compile(r"(?<![\w.])/(home/\w|root/|work/|Users/\w)"), "a path of one machine"),
]
IN_CODE = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished work; finish it, or say what is missing in docs"),
]
# Matched in sinter/ without comments. The command and the renderers of train may print; nobody else.
IN_LIBRARY = [
    (re.compile(r"(?<![\w.>])(std::)?(abort|exit|_exit|quick_exit|terminate)\s*\("), "the library never ends the program"),
    (re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w.>:])(std::)?(printf|fprintf|puts|putchar)\s*\("
                r"|\b(std|fmt)::print(ln)?\s*\("),
     "the library never prints"),
    (re.compile(r"(?<![\w.>])(std::)?(secure_)?getenv\s*\("), "read it through sinter/base's configuration"),
]
LIBRARY_EXEMPT = re.compile(r"^sinter/apps/|^sinter/train/(\w+_)?render|_test\.cpp$|^sinter/base/os/")


def check_text(path, text):
    rules = [(rule, text) for rule in EVERYWHERE]
    is_code = path.endswith(sources.CODE + (".py", ".cmake"))
    if is_code:
        rules += [(rule, text) for rule in IN_CODE]
    if path.startswith("sinter/") and is_code and not LIBRARY_EXEMPT.search(path):
        code = sources.without_comments(text, keep_strings=False)
        rules += [(rule, code) for rule in IN_LIBRARY]
    for (pattern, reason), where in rules:
        for match in pattern.finditer(where):
            line = where.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: `{match.group(0)}`: {reason}"


def check_head(path, text):
    """Every source file starts with its licence and its purpose."""
    lines = text.splitlines()[:2]
    if path.startswith("sinter/") and path.endswith((".cpp", ".hpp")):
        if len(lines) < 2 or "SPDX-License-Identifier: MIT OR Apache-2.0" not in lines[0]:
            yield f"{path}:1: the first line must be `// SPDX-License-Identifier: MIT OR Apache-2.0`"
        elif not lines[1].startswith("//"):
            yield f"{path}:2: the second line must say in one comment what the file is for"


def check(root):
    problems, paths = [], [path for path in sources.files(root, TEXT) if path != SELF]
    for path in paths:
        text = sources.read(root, path)
        problems += check_text(path, text)
        problems += check_head(path, text)
    return sources.report("words", problems, f"{len(paths)} files")


def self_test():
    def found(path, text):
        return list(check_text(path, text))
    assert found("docs/a.md", "see " + "/home" + "/me/x") and not found("docs/a.md", "a/home/x and homework")
    assert found("sinter/a.cpp", "// TO" + "DO later")
    assert found("sinter/nn/a.cpp", "  std::abort();") and not found("sinter/nn/a.cpp", "// abort()\nx.exit();")
    assert found("sinter/nn/a.cpp", 'std::cout << "x";') and not found("sinter/apps/a.cpp", 'std::cout << "x";')
    assert found("sinter/nn/a.cpp", 'getenv("X")') and not found("sinter/nn/a.cpp", "x.print(y)")
    assert not found("sinter/nn/a.cpp", "std::string print(const Ir& ir);") and not found("sinter/nn/a.cpp", 'snprintf(b, 2, "x")')
    assert list(check_head("sinter/a/b.cpp", "int x;\n\n"))
    assert not list(check_head("sinter/a/b.cpp", "// SPDX-License-Identifier: MIT OR Apache-2.0\n// X.\n"))


if __name__ == "__main__":
    sys.exit(sources.main(check, self_test))
