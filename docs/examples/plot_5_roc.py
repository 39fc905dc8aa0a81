"""
ROC and precision-recall curves of several models
=================================================

Is the digit an eight? The legend has the areas. Curves differ in their dashes and
markers, so that they can be read without colour.
"""

import matplotlib.pyplot as plt

from fastcmp import load_digits_scores, plot

is_eight, scores = load_digits_scores()
chosen = {name: scores[name] for name in ("svm_rbf", "logistic", "naive_bayes")}
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
plot.roc(is_eight, chosen, ax=left)
plot.precision_recall(is_eight, chosen, ax=right)
