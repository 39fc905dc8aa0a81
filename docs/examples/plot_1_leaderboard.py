"""
Leaderboard: models with intervals, ranks and ties
==================================================

Ten classifiers on 899 handwritten digits. Filled points are the best model and all that
are not significantly different from it. On the right: the ranks that the decisions
allow, and letters that models in a tie share.
"""

import matplotlib.pyplot as plt

from fastcmp import compare_all, load_digits, plot

result = compare_all(*load_digits())
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
plot.leaderboard(result, ax=ax)
