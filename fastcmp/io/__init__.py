"""Prediction files: what they hold, and how they are read, whole or in blocks."""
