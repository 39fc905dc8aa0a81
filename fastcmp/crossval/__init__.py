"""Cross-validation: designs, tests on folds, and comparisons that fit the models."""
