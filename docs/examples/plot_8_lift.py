"""
Lift: which cases first?
========================

Cases sorted by score and cut into ten groups: how much more frequent the events are in
each group than in all, and what percentage of all events the first groups hold.
"""

import matplotlib.pyplot as plt

from fastcmp import lift_table, load_digits_scores, plot

is_eight, scores = load_digits_scores()
table = lift_table(is_eight, scores["naive_bayes"])
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plot.lift(table, ax=left)
plot.lift(table, kind="captured", cumulative=True, ax=right)
