"""
Looking early: evidence while samples come in
=============================================

McNemar's e-value at five looks. Where it reaches the dashed line the test is decided,
and stays so.
"""

import matplotlib.pyplot as plt

from fastcmp import plot, sequential

only_a, only_b = [1, 5, 12, 19, 30], [1, 2, 4, 5, 8]
looks = sequential.mcnemar_looks(only_a, only_b, n_samples=[40, 90, 150, 210, 300])
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plot.evidence(looks, ax=ax)
