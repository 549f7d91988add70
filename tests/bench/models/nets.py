"""The models of this folder in torch, with weights of a fixed seed: what the peers run, and where
the weights come from that tcc is given."""
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Tuple

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "minilm"))
from minilm_torch import MiniLM  # noqa: E402


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = None
        if channels != 4 * width or stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return F.relu(h + (self.downsample(x) if self.downsample else x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for number, (blocks, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512)), 1):
            stage = []
            for i in range(blocks):
                stage.append(Bottleneck(channels, width, 2 if i == 0 and number > 1 else 1))
                channels = 4 * width
            setattr(self, f"layer{number}", nn.Sequential(*stage))
        self.fc = nn.Linear(2048, 1000)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(image))), 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return self.fc(x.mean((2, 3)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(512, 512, batch_first=True)

    def forward(self, x, h, c):
        return self.rnn(x, (h[None], c[None]))[0]


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 256), nn.Linear(256, 256), nn.Linear(256, 10)

    def forward(self, image):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(image)))))


@dataclass
class Model:
    net: Callable
    inputs: Callable  # of the batch and further sizes: tensors by name, the same each time
    varies: Tuple[int, ...] = ()  # axes whose size varies, beside the batch


def floats(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def tokens(batch, length=16):
    """Words between the marks of begin and end; all rows have the full length, as in a batch by length."""
    ids = torch.randint(1000, 30000, (batch, length), generator=torch.Generator().manual_seed(1))
    ids[:, 0], ids[:, -1] = 101, 102
    return {"ids": ids, "mask": torch.ones_like(ids)}


MODELS = {
    "mlp": Model(Mlp, lambda n: {"image": floats(1, n, 784)}),
    "lstm": Model(Lstm, lambda n: {"x": floats(1, n, 64, 512), "h": floats(2, n, 512), "c": floats(3, n, 512)}),
    "resnet50": Model(ResNet50, lambda n: {"image": floats(1, n, 3, 224, 224)}),
    "minilm": Model(MiniLM, tokens, varies=(1,)),
}
