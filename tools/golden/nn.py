#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Golden numbers of layers, losses and optimizers, computed by PyTorch.

Usage: python tools/golden/nn.py > tests/golden/nn_golden.hpp   (needs torch from PyPI)

Inputs are formulas that the tests repeat: element i of wave(n, phase) is sin(0.7 i + phase), in f32.
"""
import math
import sys
import textwrap

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROWS = []


def wave(shape, phase):
    n = math.prod(shape)
    return torch.tensor([math.sin(0.7 * i + phase) for i in range(n)], dtype=torch.float32).reshape(shape)


def out(name, tensor):
    values = ", ".join(f"{v:.9g}" for v in tensor.detach().double().flatten().tolist())
    row = f"inline const std::vector<double> {name} = {{{values}}};"
    ROWS.extend(textwrap.wrap(row, 98, subsequent_indent="    ", break_long_words=False))


def leaf(shape, phase):
    return wave(shape, phase).requires_grad_()


def backward(y):
    (y * y).sum().backward()


def layers():
    x, w, b = leaf((2, 3), 0.1), leaf((3, 5), 0.2), leaf((5,), 0.3)
    y = x @ w + b
    backward(y)
    out("linear_y", y), out("linear_gx", x.grad), out("linear_gw", w.grad), out("linear_gb", b.grad)

    x, w, b = leaf((2, 4, 5, 6), 0.1), leaf((6, 2, 3, 2), 0.2), leaf((6,), 0.3)
    y = F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2)
    backward(y)
    out("conv2d_y", y), out("conv2d_gw", w.grad), out("conv2d_gb", b.grad)

    x, w = leaf((2, 3, 7), 0.1), leaf((4, 3, 4), 0.2)
    out("conv1d_same_y", F.conv1d(x, w, padding="same"))

    x, w, b = leaf((2, 4, 3, 3), 0.1), leaf((4, 3, 3, 3), 0.2), leaf((6,), 0.3)
    y = F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1, groups=2)
    backward(y)
    out("conv_transpose2d_y", y), out("conv_transpose2d_gw", w.grad)


def norms():
    x = leaf((3, 2, 4), 0.1)
    norm = torch.nn.BatchNorm1d(2)
    norm.weight.data, norm.bias.data = wave((2,), 0.5), wave((2,), 0.6)
    y = norm(x)
    backward(y)
    out("batch_norm_y", y), out("batch_norm_gx", x.grad), out("batch_norm_gw", norm.weight.grad)
    out("batch_norm_mean", norm.running_mean), out("batch_norm_var", norm.running_var)
    norm.eval()
    out("batch_norm_eval_y", norm(x))

    x, w, b = leaf((3, 8), 0.1), leaf((8,), 0.5), leaf((8,), 0.6)
    y = F.layer_norm(x, (8,), w, b)
    backward(y)
    out("layer_norm_y", y), out("layer_norm_gx", x.grad), out("layer_norm_gw", w.grad)
    out("rms_norm_y", F.rms_norm(x, (8,), w, 1e-5))
    x, w, b = leaf((2, 4, 3), 0.1), leaf((4,), 0.5), leaf((4,), 0.6)
    out("group_norm_y", F.group_norm(x, 2, w, b))
    out("instance_norm_y", F.instance_norm(x, weight=w, bias=b))


def fill(module):
    for i, p in enumerate(module.parameters()):
        p.data = 0.5 * wave(p.shape, 0.1 * (i + 1))


def attention():
    m = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    fill(m)  # in_proj_weight [3d, d], in_proj_bias, out_proj.weight, out_proj.bias
    x = leaf((2, 5, 8), 0.1)
    pad = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    y, weights = m(x, x, x, key_padding_mask=pad, attn_mask=causal, average_attn_weights=False)
    backward(y)
    out("mha_y", y), out("mha_weights", weights), out("mha_gx", x.grad)
    out("mha_gout", m.out_proj.weight.grad)

    for norm_first in (False, True):
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu",
                                                 batch_first=True, norm_first=norm_first)
        fill(layer)
        x = leaf((2, 5, 8), 0.1)
        y = layer(x)
        backward(y)
        name = "encoder_first" if norm_first else "encoder_last"
        out(name + "_y", y), out(name + "_gx", x.grad)


def recurrent():
    for name, kind in (("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("rnn", torch.nn.RNN)):
        m = kind(3, 4, batch_first=True)
        fill(m)
        x = leaf((2, 5, 3), 0.1)
        y, _ = m(x)
        backward(y)
        out(name + "_y", y), out(name + "_gx", x.grad), out(name + "_gu", m.weight_hh_l0.grad)


def losses():
    x = leaf((4, 3), 0.1)
    t = torch.tensor([0, 2, -100, 1])
    w = torch.tensor([0.5, 1.0, 2.0])
    y = F.cross_entropy(x, t, weight=w, label_smoothing=0.1)
    y.backward()
    out("cross_entropy", y), out("cross_entropy_gx", x.grad)
    out("cross_entropy_sum", F.cross_entropy(x, t, reduction="sum"))
    images = leaf((2, 3, 2, 2), 0.1)
    out("cross_entropy_2d", F.cross_entropy(images, torch.tensor([[[0, 1], [2, 0]], [[1, 1], [0, 2]]])))
    a, b = leaf((3, 4), 0.1), 2 * wave((3, 4), 1.7)
    for name, f in (("mse", F.mse_loss), ("l1", F.l1_loss), ("huber", lambda x, y: F.huber_loss(x, y, delta=0.7)),
                    ("smooth_l1", lambda x, y: F.smooth_l1_loss(x, y, beta=0.7))):
        a.grad = None
        y = f(a, b)
        y.backward()
        out(name, y), out(name + "_gx", a.grad)
    target = (wave((3, 4), 2.0) + 1) / 2
    out("bce_logits", F.binary_cross_entropy_with_logits(a, target))
    out("bce", F.binary_cross_entropy((a + 1) / 2, target))
    out("kl_div", F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="none").mean())


def activations():
    x = wave((12,), 0.3) * 4
    for name, f in (("relu", F.relu), ("gelu", F.gelu), ("silu", F.silu), ("mish", F.mish), ("selu", F.selu),
                    ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")), ("hard_swish", F.hardswish),
                    ("softplus", lambda x: F.softplus(x, 2.0)), ("leaky_relu", lambda x: F.leaky_relu(x, 0.2)),
                    ("elu", lambda x: F.elu(x, 0.7)), ("celu", lambda x: F.celu(x, 0.7)),
                    ("hard_sigmoid", F.hardsigmoid), ("hard_shrink", lambda x: F.hardshrink(x, 0.7)),
                    ("soft_shrink", lambda x: F.softshrink(x, 0.7)), ("tanhshrink", F.tanhshrink),
                    ("hardtanh", F.hardtanh), ("relu6", F.relu6), ("glu", F.glu),
                    ("threshold", lambda x: F.threshold(x, 0.5, -1.0)), ("log_sigmoid", F.logsigmoid)):
        out("act_" + name, f(x))


def optimizers():
    O = torch.optim
    for name, make in (
            ("sgd", lambda p: O.SGD(p, 0.1, weight_decay=0.05)),
            ("sgd_momentum", lambda p: O.SGD(p, 0.1, momentum=0.9, dampening=0.1, weight_decay=0.05)),
            ("sgd_nesterov", lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True)),
            ("adam", lambda p: O.Adam(p, 0.1, weight_decay=0.05)),
            ("amsgrad", lambda p: O.Adam(p, 0.1, amsgrad=True)),
            ("adamw", lambda p: O.AdamW(p, 0.1, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.3))):
        p = torch.nn.Parameter(wave((2, 3), 0.2))
        optimizer = make([p])
        for step in range(4):
            p.grad = wave((2, 3), 0.5 + step) * (1 if step != 2 else 3)
            optimizer.step()
        out("optim_" + name, p)


for part in (layers, norms, attention, recurrent, losses, activations, optimizers):
    part()
print("// SPDX-License-Identifier: MIT OR Apache-2.0")
print("// Golden numbers of layers, losses and optimizers: the output of tools/golden/nn.py.")
print("#pragma once\n\n#include <vector>\n\n// clang-format off\nnamespace sinter::golden {\n")
print("\n".join(ROWS))
print("\n}  // namespace sinter::golden")
print(f"torch {torch.__version__}", file=sys.stderr)
