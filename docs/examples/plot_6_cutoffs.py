"""
One model's scores: the curve, its band, and the best cutoff
============================================================

Simulated scores of 200 patients, of whom about 30% are ill. On the left the ROC curve
with Wilson intervals for each point alone, and the cutoff with the largest Youden
index; on the right what each cutoff does.
"""

import matplotlib.pyplot as plt
import numpy as np

from fastcmp import plot

rng = np.random.default_rng(2)
ill = rng.random(200) < 0.3
score = rng.normal(size=200) + 1.5 * ill
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
plot.roc(ill, score, cutoff="youden", band=True, ax=left)
plot.cutoffs(ill, score, ax=right)
