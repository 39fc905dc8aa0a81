"""
Decision curves: which model to decide by?
==========================================

What deciding by a model gains at each threshold, against treating all or nobody, and the
differences of models with a band for all thresholds at once.
"""

import matplotlib.pyplot as plt
import numpy as np

from fastcmp import decision_curve, load_digits_scores, plot

is_eight, scores = load_digits_scores()
risks = {name: scores[name] for name in ("mlp", "random_forest")}
curve = decision_curve(is_eight, risks, thresholds=np.arange(1, 81) / 100, rng=1)
fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
plot.decision_curve(curve, ax=left)
plot.decision_curve(curve, differences=True, ax=right)
