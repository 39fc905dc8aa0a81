"""Metrics of confusion counts: values, intervals and tests."""
