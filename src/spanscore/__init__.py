"""Scores LLM agents from the OpenTelemetry traces they already emit.

Importing this package loads nothing heavy: neither DuckDB nor Arrow nor gRPC. The rooms are imported by name
(`spanscore.otlp`, `spanscore.store`, …) where they are used.
"""

__version__ = "0.1.0"
