"""Models compared by one value for each item: grades, losses, any metric."""
