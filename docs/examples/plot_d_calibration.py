"""
Calibration: are the probabilities right?
=========================================

Frequencies by probability with bands of chance, and discrimination over miscalibration.
"""

import matplotlib.pyplot as plt

from fastcmp import calibration, load_digits_scores, plot, reliability_diagram

is_eight, scores = load_digits_scores()
risks = {name: scores[name] for name in ("logistic", "mlp", "random_forest")}
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
diagram = reliability_diagram(is_eight, {"random_forest": risks["random_forest"]}, rng=1)
plot.reliability(diagram, ax=left)
plot.calibration(calibration(is_eight, risks), ax=right)
