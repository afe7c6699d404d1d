# SPDX-License-Identifier: MIT OR Apache-2.0
"""The rows of the benchmark in PyTorch. Each takes the inputs by name, and gives a step to time and outputs to compare."""
import math

import torch
import torch.nn.functional as F
from torch import nn

ROWS = {}
LR_CHECK, LR_TIMED = 1e-3, 1e-6  # Timed steps must not converge: vanishing gradients become denormal and slow.


class Variant:
    def __init__(self, name):
        self.nhwc = "_nhwc" in name
        self.fused = "_fused" in name
        self.compile = "_compile" in name

    def layout(self, tensor):
        return tensor.contiguous(memory_format=torch.channels_last) if self.nhwc else tensor

    def maybe_compile(self, function):
        return torch.compile(function) if self.compile else function


class Row:
    def __init__(self, step, outputs):
        self.step = step
        self.outputs = outputs


def row(name, *arguments):
    def add(build):
        ROWS[name] = lambda inputs, variant: build(inputs, variant, *arguments)
        return build
    return add


def forward(function, inputs, variant):
    """A row without gradients."""
    compiled = variant.maybe_compile(function)

    def step():
        with torch.inference_mode():
            return compiled(*inputs)
    return Row(step, lambda: [step()])


def forward_backward(function, leaves, variant, weight=None):
    """loss = sum(f) or sum(f · weight), then the gradients of the leaves."""
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    compiled = variant.maybe_compile(function)

    def step():
        for leaf in leaves:
            leaf.grad = None
        out = compiled(*leaves)
        (out if weight is None else out * weight).sum().backward()

    def outputs():
        step()
        return [leaf.grad for leaf in leaves]
    return Row(step, outputs)


# ---- elementwise ----


def gelu_custom(x):
    return x * (torch.erf(x / math.sqrt(2.0)) + 1) / 2


def gelu_erfpoly(x):
    """erf by Abramowitz and Stegun 7.1.26, written out."""
    z = x / math.sqrt(2.0)
    a = z.abs()
    t = 1 / (a * 0.3275911 + 1)
    p = ((((t * 1.061405429 - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = z.sign() * (1 - p * (-(a * a)).exp())
    return x * (erf + 1) / 2


@row("gelu_custom_fwd", gelu_custom)
@row("gelu_erfpoly_fwd", gelu_erfpoly)
def gelu_fwd(i, v, function):
    return forward(function, [i["x"]], v)


@row("gelu_custom_fwdbwd")
def gelu_fwdbwd(i, v):
    return forward_backward(gelu_custom, [i["x"]], v)


# ---- rows and reductions ----


@row("softmax_last", lambda x: torch.softmax(x, 2))
@row("softmax_mid", lambda x: torch.softmax(x, 1))
@row("sum_full", lambda x: x.sum())
@row("sum_d0", lambda x: x.sum(0))
@row("sum_d1", lambda x: x.sum(1))
@row("sum_d2", lambda x: x.sum(2))
@row("argmin_d2", lambda x: x.argmin(2))
def unary(i, v, function):
    return forward(function, [i["x"]], v)


@row("layernorm")
def layernorm(i, v):
    return forward(lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b), [i["x"], i["w"], i["b"]], v)


# ---- matmul ----


@row("matmul_256")
@row("matmul_512")
@row("matmul_1024")
@row("matmul_2048")
def matmul(i, v):
    return forward(torch.mm, [i["a"], i["b"]], v)


@row("int8mm_1024")
def int8mm(i, v):
    return forward(torch._int_mm, [i["a"], i["b"]], v)


# ---- conv ----


@row("conv_a", 1, 1)
@row("conv_b", 1, 1)
@row("conv_c", 1, 1)
@row("conv_d", 2, 3)
def conv(i, v, stride, padding):
    return forward(lambda x, w: F.conv2d(x, w, None, stride, padding), [v.layout(i["x"]), v.layout(i["w"])], v)


@row("conv_a_fwdbwd", 1, 1)
@row("conv_b_fwdbwd", 1, 1)
@row("conv_c_fwdbwd", 1, 1)
@row("conv_d_fwdbwd", 2, 3)
def conv_fwdbwd(i, v, stride, padding):
    return forward_backward(lambda x, w: F.conv2d(x, w, None, stride, padding),
                            [v.layout(i["x"]), v.layout(i["w"])], v, v.layout(i["g"]))


# ---- attention ----


@row("attn_fwd")
def attn_fwd(i, v):
    return forward(F.scaled_dot_product_attention, [i["q"], i["k"], i["v"]], v)


@row("attn_fwdbwd")
def attn_fwdbwd(i, v):
    return forward_backward(F.scaled_dot_product_attention, [i["q"], i["k"], i["v"]], v, i["g"])


# ---- training steps ----


def set_linear(layer, weight, bias):
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)
    return layer


def training(build, x, y, v):
    """Outputs are the losses of three steps without dropout; the timed model has it."""
    def step_of(model, lr):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=True)
        run = v.maybe_compile(model)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(run(x), y)
            loss.backward()
            optimizer.step()
            return loss
        return step

    def outputs():
        step = step_of(build(0.0), LR_CHECK)
        return [torch.stack([step().detach() for _ in range(3)])]
    return Row(step_of(build(0.25), LR_TIMED), outputs)


def mlp(i):
    return nn.Sequential(set_linear(nn.Linear(784, 512), i["w1"], i["b1"]), nn.ReLU(),
                         set_linear(nn.Linear(512, 512), i["w2"], i["b2"]), nn.ReLU(),
                         set_linear(nn.Linear(512, 10), i["w3"], i["b3"]))


@row("mlp_step")
def mlp_step(i, v):
    return training(lambda dropout: mlp(i), i["x"], i["y"], v)


def cnn(i, dropout):
    """The network of the demo."""
    return nn.Sequential(
        set_linear(nn.Conv2d(1, 64, 3), i["c1"], i["cb1"]), nn.BatchNorm2d(64), nn.GELU(), nn.MaxPool2d(2),
        set_linear(nn.Conv2d(64, 64, 3), i["c2"], i["cb2"]), nn.BatchNorm2d(64), nn.GELU(), nn.MaxPool2d(2),
        nn.Flatten(),
        set_linear(nn.Linear(1600, 128), i["w1"], i["b1"]), nn.GELU(), nn.Dropout(dropout),
        set_linear(nn.Linear(128, 128), i["w2"], i["b2"]), nn.GELU(), nn.Dropout(dropout),
        set_linear(nn.Linear(128, 10), i["w3"], i["b3"]))


@row("cnn_step")
def cnn_step(i, v):
    def build(dropout):
        model = cnn(i, dropout)
        return model.to(memory_format=torch.channels_last) if v.nhwc else model
    return training(build, v.layout(i["x"]), i["y"], v)


def encoder(i, train):
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, activation="gelu", batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    with torch.no_grad():
        for n, one in enumerate(model.layers):
            one.self_attn.in_proj_weight.copy_(i[f"qkv_w{n}"])
            one.self_attn.in_proj_bias.copy_(i[f"qkv_b{n}"])
            set_linear(one.self_attn.out_proj, i[f"out_w{n}"], i[f"out_b{n}"])
            set_linear(one.linear1, i[f"ff1_w{n}"], i[f"ff1_b{n}"])
            set_linear(one.linear2, i[f"ff2_w{n}"], i[f"ff2_b{n}"])
    return model.train(train)


@row("encoder_fwd")
def encoder_fwd(i, v):
    return forward(encoder(i, False), [i["x"]], v)


@row("encoder_fwdbwd")
def encoder_fwdbwd(i, v):
    model = encoder(i, True)
    run = v.maybe_compile(model)
    x = i["x"].clone().requires_grad_()

    def step():
        model.zero_grad(set_to_none=True)
        x.grad = None
        (run(x) * i["g"]).sum().backward()

    def outputs():
        step()
        return [x.grad, model.layers[0].linear1.weight.grad]
    return Row(step, outputs)


# ---- small and host ----


@row("add4")
def add4(i, v):
    return forward(torch.add, [i["a"], i["b"]], v)


@row("mulsumbwd")
def mulsumbwd(i, v):
    w, b = i["w"].clone().requires_grad_(), i["b"]

    def step():
        w.grad = None
        (w * b).sum().backward()

    def outputs():
        step()
        return [w.grad]
    return Row(step, outputs)


def set_cell(cell, i, suffix=""):
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, name + suffix).copy_(i[name])
    return cell


@row("lstm_loop")
def lstm_loop(i, v):
    cell = set_cell(nn.LSTMCell(3, 3), i)
    xs = i["x"]

    def step():
        for _ in range(20):
            cell.zero_grad(set_to_none=True)
            state = (torch.zeros(xs.shape[1], 3), torch.zeros(xs.shape[1], 3))
            for x in xs:
                state = cell(x, state)
            state[0].sum().backward()

    def outputs():
        step()
        return [cell.weight_ih.grad, cell.weight_hh.grad]
    return Row(step, outputs)


@row("lstm_fwd")
def lstm_fwd(i, v):
    return forward(lambda x, model=set_cell(nn.LSTM(256, 256, batch_first=True), i, "_l0"): model(x)[0], [i["x"]], v)


@row("embed_fwd")
def embed_fwd(i, v):
    return forward(F.embedding, [i["ids"], i["w"]], v)


@row("embed_fwdbwd")
def embed_fwdbwd(i, v):
    return forward_backward(lambda w: F.embedding(i["ids"], w), [i["w"]], v, i["g"])


@row("adamw_10M")
def adamw(i, v):
    def make(lr):
        parameters = [p.clone().requires_grad_() for p in i["p"]]
        for parameter, gradient in zip(parameters, i["g"]):
            parameter.grad = gradient.clone()
        options = {"fused": True} if v.fused else {}
        return parameters, torch.optim.AdamW(parameters, lr=lr, weight_decay=0.01, **options)
    timed = make(LR_TIMED)[1]

    def outputs():
        parameters, optimizer = make(LR_CHECK)
        for _ in range(3):
            optimizer.step()
        return [torch.stack([p.detach() for p in parameters])]
    return Row(timed.step, outputs)
