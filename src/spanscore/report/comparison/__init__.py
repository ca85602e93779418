"""Comparisons, gates, histories, recommendations: as tables, Markdown, CSV, JSON, JUnit XML, GitHub annotations."""
