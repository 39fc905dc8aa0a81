"""Cross-validation: the tests on folds, and the doors that fit models on them."""
