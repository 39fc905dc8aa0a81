"""Simulation studies of tests: data, algorithms, and how often a test is mistaken."""
