"""Metrics of confusion counts: values, intervals, and two models compared."""
