"""Codes become counts: all that the tests need of the samples."""
