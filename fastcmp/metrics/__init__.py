"""Functions of confusion counts: their values, intervals and tests."""
