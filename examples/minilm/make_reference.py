#!/usr/bin/env python3
"""make_reference.py FOLDER: writes expected.npy, what torch makes of sentences.txt, computed in f64, each alone.

    pip install numpy torch safetensors tokenizers; python3 make_reference.py FOLDER

FOLDER holds minilm.safetensors and vocab.txt, from `fetch`. The tokens are those of the package tokenizers."""
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import BertWordPieceTokenizer

from minilm_torch import MiniLM

HERE = Path(__file__).parent


@torch.no_grad()
def main():
    folder = Path(sys.argv[1])
    tokenizer = BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True)
    model = MiniLM().eval()
    weights = load_file(folder / "minilm.safetensors")
    missing = model.load_state_dict(weights, strict=False).missing_keys
    assert not missing, missing
    model.double()
    rows = []
    for sentence in (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines():
        ids = torch.tensor([tokenizer.encode(sentence).ids])
        rows.append(model(ids, torch.ones_like(ids))[0])
    np.save(HERE / "expected.npy", torch.stack(rows).numpy().astype(np.float32))


if __name__ == "__main__":
    main()
