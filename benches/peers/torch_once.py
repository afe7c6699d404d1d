# SPDX-License-Identifier: MIT OR Apache-2.0
"""A whole PyTorch program: torch_once.py VARIANT mlp|cnn|encoder STEPS THREADS. Writes a line after its first step."""
import sys

variant, network, steps, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if variant.endswith("_keep"):
    from torch_worker import keep_heap
    keep_heap()

import torch  # noqa: E402  (the heap must be set before)
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(threads)
torch.manual_seed(1)
if network == "mlp":
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    x, y = torch.randn(128, 784), torch.randint(10, (128,))
elif network == "cnn":
    model = nn.Sequential(
        nn.Conv2d(1, 64, 3), nn.BatchNorm2d(64), nn.GELU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.BatchNorm2d(64), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(1600, 128), nn.GELU(), nn.Dropout(.25), nn.Linear(128, 128), nn.GELU(), nn.Dropout(.25),
        nn.Linear(128, 10))
    x, y = torch.randn(256, 1, 28, 28), torch.randint(10, (256,))
else:
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, activation="gelu", batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    x, y = torch.randn(2, 128, 768), None

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
for step in range(steps):
    optimizer.zero_grad(set_to_none=True)
    out = model(x)
    loss = F.cross_entropy(out, y) if y is not None else (out * out).mean()
    loss.backward()
    if network != "encoder":
        optimizer.step()
    if step == 0:
        print(f"loss {loss.item():.6f}", flush=True)
