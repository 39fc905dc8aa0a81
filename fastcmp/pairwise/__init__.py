"""Many models: all pairs, adjusted p-values, rankings, agreement."""
