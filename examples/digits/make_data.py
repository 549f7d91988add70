#!/usr/bin/env python3
"""Writes the digits as .npy files beside this script, from the copy in scikit-learn.

    pip install numpy scikit-learn; python3 make_data.py

images.npy      u8  [1797, 1, 8, 8], values 0..16, in scikit-learn's order
labels.npy      i64 [1797]
test_images.npy f32 [360, 1, 8, 8], the last 360 images as the model takes them: values / 16
test_labels.npy i64 [360]
"""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
TESTS = 360

digits = load_digits()
images = digits.images.reshape(-1, 1, 8, 8)
labels = digits.target.astype(np.int64)
assert images.shape == (1797, 1, 8, 8) and images.min() == 0 and images.max() == 16
assert np.array_equal(images, np.round(images))

np.save(HERE / "images.npy", images.astype(np.uint8))
np.save(HERE / "labels.npy", labels)
np.save(HERE / "test_images.npy", (images[-TESTS:] / 16).astype(np.float32))
np.save(HERE / "test_labels.npy", labels[-TESTS:])
