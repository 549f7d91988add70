"""all-MiniLM-L6-v2 in torch: the oracle of minilm.g. Its parameters have the names of the file."""
import torch
from torch import nn
from torch.nn import functional as F

LAYERS, HEADS, HIDDEN, INTERMEDIATE = 6, 12, 384, 1536


def norm():
    return nn.LayerNorm(HIDDEN, eps=1e-12)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(30522, HIDDEN)
        self.position_embeddings = nn.Embedding(512, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = norm()

    def forward(self, ids):
        places = self.position_embeddings(torch.arange(ids.shape[1]))
        kind = self.token_type_embeddings(torch.zeros(1, dtype=torch.int64))
        return self.LayerNorm(self.word_embeddings(ids) + places + kind)


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))

    def forward(self, x, keep):
        q, k, v = (dense(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
                   for dense in (self.query, self.key, self.value))
        made = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return made.transpose(1, 2).flatten(2)


class AddAndNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, HIDDEN)
        self.LayerNorm = norm()

    def forward(self, x, made):
        return self.LayerNorm(x + self.dense(made))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(), "output": AddAndNorm(HIDDEN)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(HIDDEN, INTERMEDIATE)})
        self.output = AddAndNorm(INTERMEDIATE)

    def forward(self, x, keep):
        x = self.attention["output"](x, self.attention["self"](x, keep))
        return self.output(x, F.gelu(self.intermediate["dense"](x)))


class MiniLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(LAYERS))})

    def forward(self, ids, mask):
        x = self.embeddings(ids)
        keep = mask[:, None, None, :] != 0
        for layer in self.encoder["layer"]:
            x = layer(x, keep)
        w = mask[:, :, None].to(x.dtype)
        mean = (x * w).sum(1) / w.sum(1).clamp(min=1e-9)
        return F.normalize(mean, dim=-1)
