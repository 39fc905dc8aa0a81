"""Scores that rank: curves, areas, cutpoints, lift, and their comparison."""
