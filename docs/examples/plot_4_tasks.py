"""
Data sets: scores of all models, and how sure the ranks are
===========================================================

Above, the ranks of four classifiers on each of 14 data sets, the best mean rank first.
Below, how often each takes each rank when the data sets are drawn again with
replacement.
"""

import matplotlib.pyplot as plt

from fastcmp import datasets, load_demsar, plot

tasks, areas = load_demsar()
fig, (top, bottom) = plt.subplots(2, figsize=(8, 6.5), layout="constrained")
plot.task_scores(areas, tasks=tasks, ax=top)
plot.rank_distribution(datasets.task_bootstrap(areas, rng=1), ax=bottom)
