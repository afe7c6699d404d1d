# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the check_*.py scripts share: which files there are, and code without its comments."""
import os
import re
import sys

SKIPPED_FOLDERS = {".git", ".cache", ".vscode", "build", "__pycache__", "third_party"}
CODE = (".cpp", ".hpp", ".def", ".h", ".cu")


def files(root, endings=None):
    """The project's files below `root`, as sorted paths relative to it, with `/`."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if endings is None or name.endswith(endings):
                found.append(path)
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def without_comments(text, keep_strings=True):
    """Blanks out comments (and strings), keeping every newline so that line numbers hold."""

    def blank(match):
        token = match.group(0)
        if keep_strings and not token.startswith("/"):
            return token
        newlines = "\n" * token.count("\n")
        return newlines if token.startswith("/") else '""' + newlines

    return TOKEN.sub(blank, text)


def report(check, problems, summary):
    """Prints problems as `path:line: text`, then a summary; returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{check}: {len(problems)} problem(s); {summary}" if problems else f"{check}: ok; {summary}")
    return 1 if problems else 0


def main(check, self_test):
    """Runs `check(root)` on the checkout, or the script's own test with --self-test."""
    if "--self-test" in sys.argv:
        self_test()
        return 0
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return check(root)


def write_tree(root, tree):
    """Creates the files of `tree` (path to text) for a self-test."""
    for path, text in tree.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
