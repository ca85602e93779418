"""Measurements: how fast, how much memory, against what else on the same machine in the same run."""
