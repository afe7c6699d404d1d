#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""State dicts between PyTorch and nn::load / nn::save: makes the fixture of state_python_test.cpp, checks our files.

    pip install torch numpy safetensors
    state_exchange.py fixture       print the fixture and what the network gives, as C++
    state_exchange.py check FILE    load FILE, written by `sinter_nn_test` with SINTER_GOLDEN_OUT=FILE, into the same
                                    network without converting anything, and compare what it gives
"""
import sys

import torch
from safetensors.torch import load_file, save
from torch import nn


class Net(nn.Module):
    """The same names and sizes as `Net` of state_python_test.cpp."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)
        self.conv = nn.Conv1d(3, 4, 2)
        self.bn = nn.BatchNorm1d(4)
        self.blocks = nn.ModuleList([nn.Linear(4, 6), nn.Linear(6, 4, bias=False)])
        self.ln = nn.LayerNorm(4)
        self.head = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))

    def forward(self, ids):
        x = self.bn(self.conv(self.table(ids).transpose(1, 2))).mean(2)
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.head(self.ln(x))


IDS = torch.tensor([[0, 4, 2, 1], [3, 3, 0, 2]])


def numbers(tensor):
    return ", ".join(f"{x:.9g}" for x in tensor.flatten().tolist())


def fixture():
    torch.manual_seed(1)
    net = Net()
    for _ in range(3):
        net(IDS)  # moves the running statistics
    net.eval()
    data = save({name: tensor.contiguous() for name, tensor in net.state_dict().items()}).hex()
    for start in range(0, len(data), 90):
        print(f'    "{data[start:start + 90]}"')
    print(numbers(net(IDS)))


def check(path):
    net = Net()
    net.load_state_dict(load_file(path), strict=True)
    net.eval()
    assert net.bn.num_batches_tracked.item() == 2, net.bn.num_batches_tracked
    wanted = load_file(path + ".result")["result"]
    torch.testing.assert_close(net(IDS), wanted, rtol=1e-5, atol=1e-6)
    print(f"{path}: {len(net.state_dict())} tensors loaded, and the results agree")


if __name__ == "__main__":
    if sys.argv[1:] == ["fixture"]:
        fixture()
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
