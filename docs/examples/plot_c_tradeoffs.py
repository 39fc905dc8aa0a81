"""
Quality against cost, and models by slices
==========================================

Above, the accuracy of classifiers against the time that each takes, with intervals: green
models surely are on the front, grey ones are dominated by another. Below, how much less
often each is right than the first in slices of the items, which overlap.
"""

import matplotlib.pyplot as plt
import numpy as np

from fastcmp import compare_slices, correct_values, exact, load_digits, pareto_set

truth, preds = load_digits()
values = correct_values(truth, {name: preds[name] for name in list(preds)[:8]})
seconds = exact(dict(zip(values, [1.9, 9.5, 14.0, 12.0, 0.4, 2.1, 0.2, 0.3], strict=True)))
criteria = {"accuracy": values, "milliseconds": seconds}
digit = np.asarray(truth)
shapes = {"loop": [0, 6, 8, 9], "straight": [1, 4, 7], "curved": [0, 2, 3, 5, 6, 8, 9]}
slices = {name: np.isin(digit, some) for name, some in shapes.items()}
fig, (top, bottom) = plt.subplots(2, figsize=(7, 8), layout="constrained")
pareto_set(criteria, lower_is_better=["milliseconds"]).plot(ax=top)
compare_slices(values, slices, control="svm_rbf").plot(control="svm_rbf", ax=bottom)
