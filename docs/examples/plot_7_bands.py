"""
Sensitivity at each specificity, with bootstrap bands
=====================================================

Two models' ROC curves read at given specificities. Each band holds for its points
alone.
"""

import matplotlib.pyplot as plt

from fastcmp import load_digits_scores, plot, roc_band, roc_curve

is_eight, scores = load_digits_scores()
two = {name: scores[name] for name in ("logistic", "naive_bayes")}
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
plot.roc_band(roc_band(is_eight, two, n_resamples=500, rng=1), ax=left)
plot.curve(roc_curve(is_eight, two["naive_bayes"]), label="naive_bayes", ax=right)
