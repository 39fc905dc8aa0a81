"""Two models: named tests, hold-out comparisons, and their records."""
