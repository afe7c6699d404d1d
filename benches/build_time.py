#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Sinter costs to compile: the rows build_20_lines, header_parse and worst_tu, in processor seconds on one core.

build_time.py --only ROW --build FOLDER [--peers FOLDER] prints one JSON object; FOLDER is a configured build of the
library. Compiler caches are off while it measures.
"""
import argparse
import json
import os
import pathlib
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """#include <cstdio>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
  Device device = Device::best();
  auto x = Tensor<2>::random({32, 32}, Distribution::uniform(), device.autodiff()).require_grad();
  auto y = Tensor<2>::random({32, 32}, Distribution::uniform(), device.autodiff());
  auto z = x.matmul(y) + 1;
  auto loss = (z * (z / 2.0f).erf()).sum();
  Gradients grads = loss.backward();
  auto dx = x.grad(grads);
  if (!dx) {
    return 1;
  }
  std::printf("%f %f\\n", loss.item<float>(), dx->sum().item<float>());
  return 0;
}
"""

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(twenty LANGUAGES CXX)
find_package(sinter REQUIRED)
add_executable(twenty main.cpp)
target_link_libraries(twenty PRIVATE sinter::sinter)
"""

TORCH_PROGRAM = """#include <torch/torch.h>

#include <cstdio>

int main() {
  auto x = torch::rand({32, 32}, torch::requires_grad());
  auto y = torch::rand({32, 32});
  auto z = x.matmul(y) + 1;
  auto loss = (z * (z / 2.0f).erf()).sum();
  loss.backward();
  auto dx = x.grad();
  if (!dx.defined()) {
    return 1;
  }
  std::printf("%f %f\\n", loss.item<float>(), dx.sum().item<float>());
  return 0;
}
"""

ENVIRONMENT = {**os.environ, "CCACHE_DISABLE": "1"}


def one_core(command):
    return ["taskset", "-c", "0", *command] if shutil.which("taskset") else command


def run(command, **options):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT, **options)


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(command, rounds=3, **options):
    """Several runs on one core: processor seconds, which other work on the machine changes little."""
    times = []
    for _ in range(rounds):
        begin = children_seconds()
        run(one_core(command), **options)
        times.append(children_seconds() - begin)
    return times


def report(times, peers=None, note=""):
    return {"ours_ms": statistics.median(times) if times else None, "ours_min_ms": min(times) if times else None,
            "peer_ms": peers or {}, "note": note}


def torch_peer(peers, work):
    """The same program against libtorch."""
    found = sorted(pathlib.Path(peers).glob("lib/python3*/site-packages/torch"))
    if not found:
        return {}
    torch = found[0]
    source = work / "torch_main.cpp"
    source.write_text(TORCH_PROGRAM)
    command = ["g++", "-std=c++20", "-O2", "-w", f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include",
               str(source), "-o", str(work / "torch_main"), f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib",
               "-Wl,--allow-shlib-undefined", "-ltorch_cpu", "-ltorch", "-lc10"]
    return {"libtorch": min(seconds(command, rounds=1))}


def build_20_lines(options, work):
    """Configuring isn't counted; the program is compiled and linked from the installed package."""
    prefix, project = work / "prefix", work / "project"
    run(["cmake", "--install", options.build, "--prefix", str(prefix)])
    project.mkdir()
    (project / "main.cpp").write_text(PROGRAM)
    (project / "CMakeLists.txt").write_text(CMAKE)
    run(["cmake", "-S", str(project), "-B", str(project / "build"), "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_PREFIX_PATH={prefix}"])
    times = seconds(["cmake", "--build", str(project / "build"), "--clean-first"])
    run([str(project / "build" / "twenty")])
    return report(times, torch_peer(options.peers, work) if options.peers else {})


def commands_of(build):
    """Source file to the arguments that compile it, without a compiler launcher."""
    out = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        while words and pathlib.Path(words[0]).name in ("ccache", "sccache"):
            words.pop(0)
        cut = words.index("-o") if "-o" in words else None
        if cut is not None:
            del words[cut:cut + 2]
        out.setdefault(entry["file"], (words, entry["directory"]))
    return out


def header_parse(options, work):
    """Every public header alone, `-fsyntax-only`; the worst one is timed again."""
    headers = [path for path in sorted((ROOT / "sinter").rglob("*.hpp"))
               if not {"detail", "kernels"} & set(path.relative_to(ROOT).parts) and not path.stem.endswith("_test")]
    source = work / "header.cpp"
    def command(header):
        source.write_text(f'#include "{header.relative_to(ROOT)}"\n')
        return ["g++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}", str(source)]
    first = {header: seconds(command(header), rounds=1)[0] for header in headers}
    worst = sorted(first, key=first.get, reverse=True)[:3]
    again = {header: seconds(command(header), rounds=5) for header in worst}
    slowest = max(again, key=lambda header: min(again[header]))
    return report(again[slowest], note=f"{slowest.relative_to(ROOT)} of {len(headers)} headers")


def recorded_seconds(build):
    """Durations that ninja wrote down: they only rank the files, since a cache may have answered."""
    log = pathlib.Path(build) / ".ninja_log"
    out = {}
    if log.exists():
        for line in log.read_text().splitlines()[1:]:
            fields = line.split("\t")
            if len(fields) >= 4:
                out[fields[3]] = max(out.get(fields[3], 0), (int(fields[1]) - int(fields[0])) / 1000)
    return out


def worst_tu(options, work):
    """The files that took longest in the last build, and the largest ones, compiled again without a cache."""
    commands = {file: command for file, command in commands_of(options.build).items() if f"{ROOT}/sinter/" in file}
    recorded = recorded_seconds(options.build)
    def rank(file):
        name = str(pathlib.Path(file).relative_to(ROOT))
        return max((s for output, s in recorded.items() if pathlib.Path(name).name + ".o" in output), default=0)
    library = [file for file in commands if not file.endswith("_test.cpp")]
    candidates = sorted(library, key=rank, reverse=True)[:8]
    candidates += sorted(library, key=os.path.getsize, reverse=True)[:4]
    times = {}
    for file in dict.fromkeys(candidates):
        words, folder = commands[file]
        times[file] = seconds([*words, "-o", str(work / "out.o")], rounds=1, cwd=folder)[0]
    slowest = max(times, key=times.get)
    words, folder = commands[slowest]
    again = [times[slowest], *seconds([*words, "-o", str(work / "out.o")], rounds=2, cwd=folder)]
    return report(again, note=f"{pathlib.Path(slowest).relative_to(ROOT)}, of {len(times)} compiled again")


ROWS = {"build_20_lines": build_20_lines, "header_parse": header_parse, "worst_tu": worst_tu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=ROWS, required=True)
    parser.add_argument("--build", required=True, help="a configured and built folder")
    parser.add_argument("--peers", help="the folder of benches/setup, to compare with libtorch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        try:
            result = ROWS[options.only](options, pathlib.Path(work))
        except subprocess.CalledProcessError as error:
            text = (error.stderr or b"").decode(errors="replace").strip().splitlines()
            wrong = next((line for line in text if "rror" in line), text[-1] if text else str(error))
            result = report([], note=wrong)
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
