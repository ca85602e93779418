"""What a collector takes out of requests before they are written to disk: secrets, personal data, content."""

from spanscore.collector.redaction.settings import Content, Privacy, Redact

__all__ = ["Content", "Privacy", "Redact"]
