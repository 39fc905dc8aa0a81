"""
Power: how many samples does it take?
=====================================

Two models that disagree on a fifth of the samples, for two true differences of their
accuracies. A ring is what was planned: 80% power.
"""

import matplotlib.pyplot as plt

from fastcmp import planning, plot

plan = planning.sample_size(difference=[0.05, 0.1], discordant=0.2)
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plot.power_curve(plan, ax=ax)
