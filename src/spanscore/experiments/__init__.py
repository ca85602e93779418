"""Experiments: read from the store, compared, gated against a baseline, followed over time, ranked."""
