"""
Critical-difference diagram: mean ranks over data sets
======================================================

Four classifiers on 14 data sets. Bars join models that are not significantly different;
the tests are those of all pairs, not one critical difference.
"""

import matplotlib.pyplot as plt

from fastcmp import compare_datasets, load_demsar, plot

tasks, areas = load_demsar()
fig, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
plot.critical_difference(compare_datasets(areas, tasks=tasks), ax=ax)
