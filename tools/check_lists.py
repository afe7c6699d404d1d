#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""sinter/ops/ops.def is the only list of ops, and blocks marked `keep-sorted` are sorted.

A second list is a window of 40 lines in which more than 8 distinct ops stand in list position: a case label, a
comparison, a string, a template argument, an element of an initializer or of a macro row. Ops of a family don't count
in that family's own files (a folder or file stem with the family's name), nor does anything in a test.
"""
import re
import sys

import sources

OP_TABLE = "sinter/ops/ops.def"
WINDOW, LIMIT = 40, 8

# Files that may name many ops, each with the reason why it is no second list.
ALLOWED = {
    r"sinter/ops/ops\.def": "the list itself",
    r"sinter/.*/(\w+_)?carrier\.[ch]pp": "a carrier spells the elementary functions that formulas are written in",
    r"sinter/kernel/ir/instructions\.def": "the list of kernel instructions, some with an op's name",
    r"sinter/backend/portable/kernels/vmath\.[ch]pp": "elementary functions of vectors, some with an op's name",
}

# A row: SINTER_BINARY(Add, add, arithmetic).
ROW = re.compile(r"^\s*SINTER_[A-Z_]+\(\s*([A-Z]\w*)\s*,\s*([a-z]\w*)\s*,\s*(\w+)\s*\)", re.M)


def parse_ops(text):
    """Maps the names of an op, `Erf` and `erf`, to (the op, its family)."""
    names = {}
    for struct, name, family in ROW.findall(sources.without_comments(text)):
        names[struct] = names[name] = (name, family)
    return names


def list_patterns(names):
    """The syntaxes of a list. Each regex captures the name of an op; `Erf` must be qualified or an element."""
    any_name = "(" + "|".join(sorted(names, key=len, reverse=True)) + ")"
    struct = "(" + "|".join(sorted((n for n in names if n[:1].isupper()), key=len, reverse=True) or ["(?!)"]) + ")"
    return {
        "case labels": re.compile(r"\bcase\s+(?:\w+::)*" + any_name + r"\s*:"),
        "comparisons": re.compile(r"[=!]=\s*(?:\w+::)+" + any_name + r"\b|[=!]=\s*\"" + any_name + '"'),
        "strings": re.compile('"' + any_name + '"'),
        "opcodes": re.compile(r"\b(?:Op[cC]ode|OpId|OpKind)::" + any_name + r"\b"),
        "template arguments": re.compile(r"[<,]\s*(?:\w+::)*" + struct + r"\s*(?=[,>])"),
        "elements": re.compile(r"[{(,]\s*(?:\w+::)*" + struct + r"\s*(?:\{\s*\})?\s*(?=[,})])"),
        "macro rows": re.compile(r"^\s*[A-Z][A-Z0-9_]+\(\s*" + any_name + r"\b", re.M),
    }


def is_family_file(path, family):
    parts = path.split("/")
    stem = parts[-1].split(".")[0]
    return bool(family) and (family in parts[:-1] or stem == family or stem.startswith(family + "_")
                             or stem.endswith("_" + family))


def find_second_list(path, text, names, patterns):
    """The first window of `text` that lists more than LIMIT ops, as (line, syntax, ops), or None."""
    for syntax, pattern in patterns.items():
        mentions = []
        for match in pattern.finditer(text):
            op, family = names[next(group for group in match.groups() if group)]
            if not is_family_file(path, family):
                mentions.append((text.count("\n", 0, match.end()) + 1, op))
        first = 0
        for last in range(len(mentions)):
            while mentions[last][0] - mentions[first][0] >= WINDOW:
                first += 1
            listed = sorted({op for _, op in mentions[first:last + 1]})
            if len(listed) > LIMIT:
                return mentions[first][0], syntax, listed
    return None


def check_op_lists(root, names):
    patterns = list_patterns(names)
    for path in sources.files(root, sources.CODE):
        if not path.startswith("sinter/") or re.search(r"_(test|fuzzer)\.[ch]pp$", path):
            continue
        if any(re.fullmatch(pattern, path) for pattern in ALLOWED):
            continue
        found = find_second_list(path, sources.without_comments(sources.read(root, path)), names, patterns)
        if found:
            line, syntax, listed = found
            yield (f"{path}:{line}: a second list of ops ({syntax}: {', '.join(listed[:6])} …); derive it from "
                   f"{OP_TABLE}, or move it to the family's own file")


def check_sorted(path, text):
    """A block runs from a line with `keep-sorted` to `keep-sorted end` or a blank line."""
    block = None
    for number, line in enumerate(text.splitlines() + [""], 1):
        comment = re.search(r"(?://|#)\s*keep-sorted\b(.*)", line)
        if comment and comment.group(1).strip() != "end":
            block = []
        elif block is not None and (comment or not line.strip()):
            keys = [entry.lower() for _, entry in block]
            for (where, entry), key, before in zip(block[1:], keys[1:], keys):
                if key < before:
                    yield f"{path}:{where}: `{entry}` is out of order in a keep-sorted block"
                    break
            block = None
        elif block is not None:
            block.append((number, line.strip().rstrip(",")))


def check(root):
    problems, names = [], {}
    for path in sources.files(root, sources.CODE + (".txt", ".cmake")):
        problems += check_sorted(path, sources.read(root, path))
    if OP_TABLE in sources.files(root, ".def"):
        names = parse_ops(sources.read(root, OP_TABLE))
        if not names:
            problems.append(f"{OP_TABLE}:1: no row of the form SINTER_OP(Struct, name, family)")
        else:
            problems += check_op_lists(root, names)
    paths = sources.files(root, sources.CODE)
    problems += [f"tools/check_lists.py: ALLOWED has `{pattern}`, which fits no file"
                 for pattern in ALLOWED if not any(re.fullmatch(pattern, path) for path in paths)]
    return sources.report("lists", problems, f"{len(set(names.values()))} ops")


def self_test():
    letters = "abcdefghij"
    table = "#define SINTER_UNARY(Struct, name, group) SINTER_OP(Struct, name, group)\n" + "".join(
        f"SINTER_UNARY(Op{c.upper()}, op_{c}, math)\n" for c in letters)
    names = parse_ops("// SINTER_OP(No, no, math)\n" + table)
    assert len(set(names.values())) == 10 and names["OpA"] == ("op_a", "math")
    patterns = list_patterns(names)

    def is_list(text, path="sinter/decorators/autodiff.cpp"):
        return find_second_list(path, sources.without_comments(text), names, patterns) is not None

    switch = "".join(f"    case Opcode::op_{c}: return 1;\n" for c in letters)
    assert is_list(switch)
    assert not is_list(switch, "sinter/backend/reference/math.cpp"), "the family's own file"
    assert not is_list(switch, "sinter/ops/math/unary.cpp"), "the family's own folder"
    assert is_list("const char* names[] = {" + ", ".join(f'"op_{c}"' for c in letters) + "};")
    assert is_list("using All = std::tuple<" + ", ".join(f"ops::Op{c.upper()}" for c in letters) + ">;")
    assert is_list("auto all = {" + ", ".join(f"Op{c.upper()}{{}}" for c in letters) + "};")
    assert is_list("".join(f'if (name == "op_{c}") {{}}\n' for c in letters))
    assert is_list("".join(f"ROW(op_{c}, 1)\n" for c in letters))
    assert not is_list("".join(f"// case Opcode::op_{c}:\n" for c in letters)), "a comment"
    assert not is_list("".join(f"y = op_{c}(x);\n" for c in letters)), "calls are formulas"
    assert not is_list("".join(f"case Opcode::op_{c}:\n" for c in letters[:8])), "eight are few"
    assert not is_list(("\n" * 39).join(f"case Opcode::op_{c}:" for c in letters)), "thin, not a list"
    assert list(check_sorted("x", "// keep-sorted\nb,\na,\n\n"))
    assert not list(check_sorted("x", "// keep-sorted\na,\nB,\nc\n// keep-sorted end\nb\n"))


if __name__ == "__main__":
    sys.exit(sources.main(check, self_test))
