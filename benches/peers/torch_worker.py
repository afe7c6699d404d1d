# SPDX-License-Identifier: MIT OR Apache-2.0
"""PyTorch as a peer: reads one command a line, answers `ok …` or `no <reason>`.

torch_worker.py VARIANT THREADS, where VARIANT is `torch` and any of `_nhwc` (channels last), `_fused` (fused optimizer),
`_compile` (torch.compile) and `_keep` (freed memory stays in the heap, so that no iteration pays for page faults).
Commands: hello · prepare ROW FOLDER · outputs FOLDER · time ITERATIONS · cpu_time ITERATIONS · release.
"""
import ctypes
import gc
import os
import sys
import time


def keep_heap():
    """Both thresholds at their maximum: malloc neither maps nor trims."""
    m_trim_threshold, m_mmap_threshold = -1, -3
    libc = ctypes.CDLL("libc.so.6")
    libc.mallopt(m_mmap_threshold, 2**30)
    libc.mallopt(m_trim_threshold, 2**31 - 1)
    libc.mallopt(-4, 0)  # M_MMAP_MAX: a block above the largest threshold stays in the heap too.


def read_inputs(folder, torch):
    import numpy
    inputs = {}
    with open(os.path.join(folder, "inputs.txt"), encoding="utf-8") as lines:
        for line in lines:
            name, kind, *dims = line.split()
            values = numpy.fromfile(os.path.join(folder, name + ".f32"), dtype=numpy.float32)
            tensor = torch.from_numpy(values.reshape([int(dim) for dim in dims]))
            inputs[name] = {"f32": tensor, "i64": tensor.long, "i8": lambda: tensor.to(torch.int8)}[kind]
            if callable(inputs[name]):
                inputs[name] = inputs[name]()
    return inputs


class Server:
    def __init__(self, variant, threads):
        self.variant = variant
        self.threads = threads
        self.torch = None
        self.row = None

    def hello(self):
        import torch
        torch.set_num_threads(self.threads)
        self.torch = torch
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        return torch.__version__

    def prepare(self, name, folder):
        import torch_rows
        self.release()
        build = torch_rows.ROWS.get(name)
        if build is None:
            raise LookupError("has no such row")
        self.torch.manual_seed(1)
        self.row = build(read_inputs(folder, self.torch), torch_rows.Variant(self.variant))
        return ""

    def outputs(self, folder):
        results = self.row.outputs()
        for index, result in enumerate(results):
            array = result.detach().to(self.torch.float32).contiguous().numpy()
            array.tofile(os.path.join(folder, f"output.{index}.f32"))
        return str(len(results))

    def time(self, iterations, now=time.perf_counter):
        step = self.row.step
        begin = now()
        for _ in range(int(iterations)):
            step()
        return repr(now() - begin)

    def cpu_time(self, iterations):
        return self.time(iterations, time.process_time)

    def release(self):
        self.row = None
        gc.collect()
        return ""


def main():
    variant, threads = sys.argv[1], int(sys.argv[2])
    if variant.endswith("_keep"):
        keep_heap()
    server = Server(variant, threads)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What libraries print must not mix with the answers.
    for line in sys.stdin:
        command, *arguments = line.split()
        try:
            answer = "ok " + getattr(server, command)(*arguments)
        except Exception as error:  # The bench shows the reason and goes on.
            answer = "no " + " ".join(f"{type(error).__name__}: {error}".split())[:200]
        answers.write(answer.strip() + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
