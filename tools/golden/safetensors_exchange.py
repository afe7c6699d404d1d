#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exchange with Python's safetensors: makes the fixture of record_python_test.cpp, and checks our files.

    pip install safetensors numpy
    safetensors_exchange.py fixture            print the fixture as C++ string pieces
    safetensors_exchange.py check FILE         compare FILE, written by `sinter_store_test`
                                      with SINTER_GOLDEN_OUT=FILE, to the same values
"""
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

TENSORS = {
    "f64": np.array([[1.5, -2.25], [np.inf, 5e-324]], np.float64),
    "f32": np.array([0.1, -0.0, 3.4e38], np.float32),
    "f16": np.array([1.0, 65504.0, 6e-8], np.float16),
    "i64": np.array([-(2**63), 2**63 - 1], np.int64),
    "i32": np.array(7, np.int32),
    "i16": np.array([[[-3]]], np.int16),
    "i8": np.array([-128, 127], np.int8),
    "u64": np.array([2**64 - 1], np.uint64),
    "u32": np.array([2**32 - 1], np.uint32),
    "u16": np.array([65535], np.uint16),
    "u8": np.array([0, 255], np.uint8),
    "bool": np.array([True, False, True], np.bool_),
    "empty": np.zeros((0, 4), np.float32),
}
METADATA = {"format": "np", "note": "čaj"}


def fixture():
    data = save(TENSORS, METADATA).hex()
    for start in range(0, len(data), 80):
        print(f'    "{data[start:start + 80]}"')


def check(path):
    with safe_open(path, framework="np") as file:
        assert file.metadata() == METADATA, file.metadata()
        assert set(file.keys()) == set(TENSORS), file.keys()
        for name, expected in TENSORS.items():
            got = file.get_tensor(name)
            assert got.dtype == expected.dtype, (name, got.dtype)
            assert got.shape == expected.shape, (name, got.shape)
            assert got.tobytes() == expected.tobytes(), name
    print(f"{path}: {len(TENSORS)} tensors agree")


if __name__ == "__main__":
    if sys.argv[1:] == ["fixture"]:
        fixture()
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
