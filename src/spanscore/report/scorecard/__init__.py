"""The report: one document, filled once, shown as a table, JSON, Markdown or CSV."""

from spanscore.report.scorecard.model import SCHEMA_VERSION, Report
from spanscore.report.scorecard.read import ReportScope, read_report

__all__ = ["SCHEMA_VERSION", "Report", "ReportScope", "read_report"]
