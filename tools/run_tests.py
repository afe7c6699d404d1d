#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the tests that ctest knows in a build folder, and counts the single GoogleTest cases in them.

usage: run_tests.py BUILD [--only REGEX] [--list] [--label LABEL] [--jobs N] [--totals FILE]

`--only` selects by the name of the case (Suite.Case), or of the entry where it isn't a GoogleTest program.
`--totals` appends one line `passed failed skipped`. The exit status is 1 when a test failed or none ran.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Entry:
    """One test of ctest: a command, and how to run it."""

    def __init__(self, test):
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        self.name = test["name"]
        self.command = test.get("command")
        self.labels = properties.get("LABELS", [])
        self.timeout = float(properties.get("TIMEOUT", 1500))
        self.serial = bool(properties.get("RUN_SERIAL", False))
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        self.is_gtest = "gtest" in self.labels
        self.cases = None  # the selected cases; None is all of them

    def shard(self):
        return int(self.environment.get("GTEST_SHARD_INDEX", 0))


class Result:
    """What one entry did."""

    def __init__(self, passed=0, failed=0, skipped=0, output="", seconds=0.0, failures=()):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.output, self.seconds, self.failures = output, seconds, list(failures)


def entries_of(build):
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                          capture_output=True, text=True).stdout
    return [Entry(test) for test in json.loads(text)["tests"]]


def parse_case_list(text):
    """Reads the output of --gtest_list_tests."""
    cases, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if not name.strip():
            continue
        if not name.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite:
            cases.append(suite + name.strip())
    return cases


def list_cases(entry):
    if not entry.is_gtest or not entry.command:
        return [entry.name]
    done = subprocess.run(entry.command + ["--gtest_list_tests"], capture_output=True, text=True,
                          cwd=entry.folder, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{entry.name} can't list its tests:\n{done.stdout}{done.stderr}")
    return parse_case_list(done.stdout)


def read_report(path, status):
    """Counts a GoogleTest report. A program that failed without a failed case crashed: that is one failure more."""
    result = Result()
    try:
        with open(path, encoding="utf-8") as file:
            suites = json.load(file)["testsuites"]
    except (OSError, ValueError, KeyError):
        return Result(failed=1, failures=["(ended before its report)"]) if status else result
    for suite in suites:
        for case in suite["testsuite"]:
            if case.get("status") == "NOTRUN" or case.get("result") == "SUPPRESSED":
                continue
            if case.get("failures"):
                result.failed += 1
                result.failures.append(f"{suite['name']}.{case['name']}")
            elif case.get("result") == "SKIPPED":
                result.skipped += 1
            else:
                result.passed += 1
    if status and not result.failed:
        result.failed += 1
        result.failures.append(f"(ended with status {status})")
    return result


def run_entry(entry, scratch):
    if not entry.command:
        return Result(failed=1, failures=["(not built)"])
    command, environment = list(entry.command), dict(os.environ, **entry.environment)
    report = os.path.join(scratch, entry.name.replace("/", "_") + ".json")
    if entry.is_gtest:
        environment["GTEST_OUTPUT"] = "json:" + report
        if entry.cases is not None:
            flags = report + ".flags"
            with open(flags, "w", encoding="utf-8") as file:
                file.write("--gtest_filter=" + ":".join(entry.cases) + "\n")
            command.append("--gtest_flagfile=" + flags)
            for name in ("GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"):
                environment.pop(name, None)
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", cwd=entry.folder, env=environment, timeout=entry.timeout)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status = "timeout"
        output = (error.stdout or b"").decode(errors="replace") + f"\nstopped after {entry.timeout:.0f} s\n"
    except OSError as error:
        status, output = "not started", str(error)
    if entry.is_gtest:
        result = read_report(report, status)
    else:
        result = Result(failed=1, failures=[f"(status {status})"]) if status else Result(passed=1)
    result.output, result.seconds = output, time.monotonic() - start
    return result


def show(entry, result):
    mark = "FAILED" if result.failed else "ok"
    skipped = f", {result.skipped} skipped" if result.skipped else ""
    print(f"  {mark:6} {entry.name:28} {result.passed} passed, {result.failed} failed{skipped}"
          f"  ({result.seconds:.1f} s)", flush=True)
    if result.failed:
        for name in result.failures[:30]:
            print(f"         failed: {name}")
        lines = result.output.splitlines()
        wanted = [line for line in lines if not re.match(r"\[( RUN  |       OK |-----)", line)]
        print("\n".join("         | " + line for line in wanted[-60:]), flush=True)


def select(entries, pattern):
    chosen = []
    for entry in entries:
        if entry.shard() != 0:
            continue
        entry.cases = [case for case in list_cases(entry) if pattern.search(case)]
        if entry.cases:
            if not entry.is_gtest:
                entry.cases = None
            chosen.append(entry)
    return chosen


def run_all(entries, jobs):
    scratch = tempfile.mkdtemp(prefix="sinter-tests-")
    totals = Result()

    def account(entry, result):
        show(entry, result)
        totals.passed += result.passed
        totals.failed += result.failed
        totals.skipped += result.skipped

    try:
        together = [entry for entry in entries if not entry.serial]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(run_entry, entry, scratch): entry for entry in together}
            for future in concurrent.futures.as_completed(running):
                account(running[future], future.result())
        for entry in entries:
            if entry.serial:
                account(entry, run_entry(entry, scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return totals


def self_test():
    listing = "Running main() from gtest_main.cc\nShape.\n  Ranks\nMath/Unary.\n  Forward/0  # GetParam() = 3\n"
    assert parse_case_list(listing) == ["Shape.Ranks", "Math/Unary.Forward/0"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        cases = [{"name": "a", "status": "RUN", "result": "COMPLETED"},
                 {"name": "b", "status": "RUN", "result": "SKIPPED"},
                 {"name": "c", "status": "RUN", "result": "COMPLETED", "failures": [{}]},
                 {"name": "d", "status": "NOTRUN", "result": "SUPPRESSED"}]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"testsuites": [{"name": "S", "testsuite": cases}]}, file)
        result = read_report(path, 1)
        assert (result.passed, result.failed, result.skipped) == (1, 1, 1) and result.failures == ["S.c"]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"testsuites": [{"name": "S", "testsuite": cases[:1]}]}, file)
        assert read_report(path, -11).failed == 1, "a crash after the last case is a failure"
        assert read_report(path + ".none", -11).failed == 1, "a crash before the report is a failure"
        assert run_entry(Entry({"name": "x", "command": ["false"]}), folder).failed == 1
        assert run_entry(Entry({"name": "x", "command": ["true"]}), folder).passed == 1
        assert run_entry(Entry({"name": "x"}), folder).failed == 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--label")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--totals")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    entries = entries_of(options.build)
    if options.label:
        entries = [entry for entry in entries if options.label in entry.labels]
    if options.only:
        entries = select(entries, re.compile(options.only))
    if options.list:
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `| head` ends quietly
        for entry in entries:
            if entry.shard() == 0:
                for case in entry.cases or list_cases(entry):
                    print(f"{entry.name.split('.')[0]}: {case}")
        return 0
    totals = run_all(entries, options.jobs)
    if options.totals:
        with open(options.totals, "a", encoding="utf-8") as file:
            file.write(f"{totals.passed} {totals.failed} {totals.skipped}\n")
    return 1 if totals.failed or not totals.passed else 0


if __name__ == "__main__":
    sys.exit(main())
