"""Measures that are a value for each model and an influence for each item."""
