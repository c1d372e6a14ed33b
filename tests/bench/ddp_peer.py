"""The peer: what a PyTorch user would write for the models of lib/model, with DistributedDataParallel over gloo.

One process is one rank, told by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them. Without RANK it
trains alone, without DistributedDataParallel. Its choices favour the peer: one batch that stays in memory, gradients
set to None, the causal mask made once. OUT/rank-R.json receives the times.

usage: ddp_peer.py MODEL STEPS {ddp|ddp-views|alone} OUT
"""

import json
import os
import sys
import time

import torch
import torch.distributed
import torch.nn.functional as F
from torch import nn

from bench_processes import peak_memory_mib
from workloads import LEARNING_RATE, MOMENTUM, WORKLOADS


class LeNet(nn.Module):
    def __init__(self, work):
        super().__init__()
        channels, height, width = work.input_shape
        self.conv1 = nn.Conv2d(channels, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(64 * ((height - 4) // 2) * ((width - 4) // 2), 128)
        self.fc2 = nn.Linear(128, work.classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class BasicBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.downsample = nn.Identity()
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x), inplace=True)


class ResNet18(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.conv1 = nn.Conv2d(work.input_shape[0], 64, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        blocks, before = [], 64
        for stage in range(4):
            after = 64 << stage
            for i in range(2):
                blocks.append(BasicBlock(before, after, 2 if stage > 0 and i == 0 else 1))
                before = after
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(before, work.classes)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn1(self.conv1(x)), inplace=True))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class VggLike(nn.Module):
    def __init__(self, work, width=4096):
        super().__init__()
        channels, height, columns = work.input_shape
        layers = []
        for before, after, halve in ((channels, 64, False), (64, 64, True), (64, 128, False), (128, 128, True),
                                     (128, 256, False), (256, 256, True)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(inplace=True)]
            if halve:
                layers.append(nn.MaxPool2d(2))
        features = 256 * (height // 8) * (columns // 8)
        self.layers = nn.Sequential(
            *layers, nn.Flatten(), nn.Linear(features, width), nn.ReLU(inplace=True), nn.Linear(width, width),
            nn.ReLU(inplace=True), nn.Linear(width, work.classes))

    def forward(self, x):
        return self.layers(x)


class Transformer(nn.Module):
    def __init__(self, work, width=256, depth=4, heads=8):
        super().__init__()
        length = work.input_shape[0]
        self.embedding = nn.Embedding(work.classes, width)
        self.position = nn.Parameter(torch.randn(length, 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.output = nn.Linear(width, work.classes)
        # Not a buffer: DistributedDataParallel would send it in every step.
        self.mask = torch.full((length, length), float("-inf")).triu(1)

    # (B, T) -> (B * T, vocabulary)
    def forward(self, x):
        x = self.layers(self.embedding(x.t()) + self.position, self.mask)
        return self.output(x).transpose(0, 1).flatten(0, 1)


NETWORKS = {"lenet": LeNet, "resnet18": ResNet18, "transformer": Transformer, "vgg-like": VggLike}


def make_batch(work):
    if work.tokens:
        tokens = torch.randint(work.classes, (work.batch, work.input_shape[0] + 1))
        return tokens[:, :-1].contiguous(), tokens[:, 1:].flatten()
    return torch.randn(work.batch, *work.input_shape), torch.randint(work.classes, (work.batch,))


def train(network, batch, steps):
    """Milliseconds of each step from end to end, and of its parts; backward holds the reduction."""
    inputs, targets = batch
    optimizer = torch.optim.SGD(network.parameters(), LEARNING_RATE, momentum=MOMENTUM)
    times = {"step_ms": [], "forward_ms": [], "backward_ms": [], "optimizer_ms": []}
    begin = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(inputs), targets)
        after_forward = time.perf_counter()
        loss.backward()
        after_backward = time.perf_counter()
        optimizer.step()
        end = time.perf_counter()
        marks = (end - begin, after_forward - begin, after_backward - after_forward, end - after_backward)
        for series, seconds in zip(times.values(), marks):
            series.append(seconds * 1e3)
        begin = end
    return times


def main():
    model, steps, mode, out = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    rank = int(os.environ.get("RANK", "0"))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = NETWORKS[model](WORKLOADS[model])
    parameters = sum(p.numel() for p in network.parameters())
    if mode != "alone":
        torch.distributed.init_process_group("gloo")
        network = nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=mode == "ddp-views")
    torch.manual_seed(rank + 1)
    record = train(network, make_batch(WORKLOADS[model]), steps)
    record["parameters"] = parameters
    record["peak_mib"] = peak_memory_mib(os.getpid())
    record["torch"] = torch.__version__
    with open(os.path.join(out, f"rank-{rank}.json"), "w", encoding="utf-8") as file:
        json.dump(record, file)
    if mode != "alone":
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
