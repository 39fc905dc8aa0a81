"""
Who differs from whom: a map of all pairs
=========================================

Adjusted p-values of McNemar's test, best models first. A star is a significant
difference; a frame surrounds neighbours in the ranking of which no two differ
significantly.
"""

import matplotlib.pyplot as plt

from fastcmp import compare_all, load_digits, plot

fig, ax = plt.subplots(figsize=(7.5, 6), layout="constrained")
plot.pvalue_map(compare_all(*load_digits()), ax=ax)
