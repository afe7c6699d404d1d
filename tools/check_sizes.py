#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files stay small (warn above 600 lines, fail above 1000), functions too (warn above 60); prints the line budget."""
import re
import sys

import sources

FILE_WARN, FILE_FAIL, FUNCTION_WARN = 600, 1000, 60
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
CODE = sources.CODE + (".py", ".cmake", ".sh")


def long_functions(text):
    """Yields (line, length) of functions longer than FUNCTION_WARN, found by their braces."""
    code = sources.without_comments(text, keep_strings=False)
    code = re.sub(r"^\s*#.*?(?<!\\)$", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.M | re.S)
    stack, head_start, depth_of_function = [], 0, None
    for match in re.finditer(r"[{};]", code):
        position, token = match.start(), match.group(0)
        if token == "{":
            head = code[head_start:position]
            function = ")" in head and not SCOPE.search(head.split("(")[0])
            if function and depth_of_function is None:
                depth_of_function = len(stack)
                begin = head_start + len(head) - len(head.lstrip())
                stack.append(code.count("\n", 0, begin) + 1)
            else:
                stack.append(None)
        elif token == "}" and stack:
            start = stack.pop()
            if depth_of_function == len(stack):
                depth_of_function = None
                length = code.count("\n", 0, position) + 2 - start
                if length > FUNCTION_WARN:
                    yield start, length
        head_start = position + 1


def check(root):
    problems, warnings, budget = [], [], {}
    for path in sources.files(root, CODE):
        text = sources.read(root, path)
        lines = text.count("\n")
        kind = "tests" if "_test." in path or path.startswith("tests/") else path.split("/")[0]
        budget[kind] = budget.get(kind, 0) + lines
        if lines > FILE_FAIL:
            problems.append(f"{path}:1: {lines} lines; the most is {FILE_FAIL}: split it by what its parts do")
        elif lines > FILE_WARN:
            warnings.append(f"{path}:1: warning: {lines} lines")
        if path.endswith((".cpp", ".hpp")) and "_test." not in path:
            warnings += [f"{path}:{line}: warning: a function of {length} lines"
                         for line, length in long_functions(text)]
    print("\n".join(warnings) + "\n" if warnings else "", end="")
    parts = ", ".join(f"{kind} {lines}" for kind, lines in sorted(budget.items(), key=lambda item: -item[1]))
    return sources.report("sizes", problems,
                          f"{len(warnings)} warning(s); {sum(budget.values())} lines of code: {parts}")


def self_test():
    body = "  x();\n" * 70
    assert list(long_functions("namespace a {\nint f(int x) {\n" + body + "}\n}\n")) == [(2, 72)]
    assert list(long_functions("struct A {\n  int f() const {\n    if (x) {\n" + body + "    }\n  }\n};\n")) == [(2, 74)]
    assert not list(long_functions("struct A {\n" + "  int f();\n" * 70 + "};\n"))
    assert not list(long_functions("int f() {\n}\n" * 70))
    assert not list(long_functions("int f() {\n  g(\"{\");  // {\n}\n" * 40))


if __name__ == "__main__":
    sys.exit(sources.main(check, self_test))
