"""The models that the benchmarks train, with the size of one step; the same for mastic-train and its peers."""

from dataclasses import dataclass

LEARNING_RATE = 0.001  # vgg-like diverges with 0.01
MOMENTUM = 0.9


@dataclass(frozen=True)
class Workload:
    batch: int  # samples of one rank in one step
    steps: int  # measured steps of one run
    classes: int  # or size of the vocabulary
    input_shape: tuple  # of one sample; of a token model: (tokens,)
    tokens: bool = False


WORKLOADS = {
    "lenet": Workload(batch=64, steps=20, classes=10, input_shape=(1, 28, 28)),
    "resnet18": Workload(batch=16, steps=7, classes=10, input_shape=(3, 32, 32)),
    "transformer": Workload(batch=16, steps=8, classes=256, input_shape=(128,), tokens=True),
    "vgg-like": Workload(batch=16, steps=8, classes=10, input_shape=(3, 32, 32)),
}
WARM_UP_STEPS = 3
