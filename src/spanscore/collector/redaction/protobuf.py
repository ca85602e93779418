"""Redaction of a protobuf request: decoded with the official classes, changed in place, written anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError as ProtobufDecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanscore.collector.records import Signal
from spanscore.collector.redaction.content import hash_key, is_message
from spanscore.collector.redaction.names import Name
from spanscore.collector.redaction.rules import LONGEST_WORD, Fate, Rules
from spanscore.errors import DecodeError


def redact_protobuf(payload: bytes, signal: Signal, rules: Rules, counts: Counter[str]) -> bytes:
    """The request without what it must not hold; fields that this version of OTLP does not know are left out.

    Raises:
        DecodeError: the bytes are no request, so nothing can be said about them.
    """
    request: Any = ExportTraceServiceRequest() if signal is Signal.TRACES else ExportLogsServiceRequest()
    try:
        request.ParseFromString(payload)
    except ProtobufDecodeError as error:
        raise DecodeError("malformed_protobuf", str(error)) from None
    request.DiscardUnknownFields()
    _ProtobufRequest(rules, counts).redact(request, signal)
    content: bytes = request.SerializeToString()
    return content


class _ProtobufRequest:
    """One request while it is changed: texts are gathered first and looked at all together."""

    def __init__(self, rules: Rules, counts: Counter[str]) -> None:
        self._rules = rules
        self._counts = counts
        self._redactor = rules.redactor(counts)
        self._owners: list[Any] = []
        self._fields: list[str] = []
        self._texts: list[str] = []

    def redact(self, request: Any, signal: Signal) -> None:
        if signal is Signal.TRACES:
            self._traces(request)
        else:
            self._logs(request)
        if not self._rules.redacts:
            return
        for place, text in self._redactor.texts(self._texts).items():
            setattr(self._owners[place], self._fields[place], text)

    def _traces(self, request: Any) -> None:
        for resource_spans in request.resource_spans:
            self._resource(resource_spans)
            for scope_spans in resource_spans.scope_spans:
                self._scope(scope_spans)
                for span in scope_spans.spans:
                    self._look(span, "name")
                    self._look(span, "trace_state")
                    self._attributes(span.attributes, None)
                    if span.HasField("status"):
                        self._look(span.status, "message")
                    for event in span.events:
                        self._look(event, "name")
                        self._attributes(event.attributes, event.name)
                    for link in span.links:
                        self._look(link, "trace_state")
                        self._attributes(link.attributes, None)

    def _logs(self, request: Any) -> None:
        for resource_logs in request.resource_logs:
            self._resource(resource_logs)
            for scope_logs in resource_logs.scope_logs:
                self._scope(scope_logs)
                for record in scope_logs.log_records:
                    self._look(record, "severity_text")
                    self._look(record, "event_name")
                    event = record.event_name or _event_name(record.attributes)
                    if self._rules.strips_content and is_message(event):
                        self._strip_body(record)
                    if record.HasField("body"):
                        self._value(record.body, None)
                    self._attributes(record.attributes, event)

    def _resource(self, owner: Any) -> None:
        self._look(owner, "schema_url")
        self._attributes(owner.resource.attributes, None)
        for reference in getattr(owner.resource, "entity_refs", ()):
            self._look(reference, "schema_url")
            self._look(reference, "type")

    def _scope(self, owner: Any) -> None:
        self._look(owner, "schema_url")
        self._look(owner.scope, "name")
        self._look(owner.scope, "version")
        self._attributes(owner.scope.attributes, None)

    def _look(self, owner: Any, field: str) -> None:
        text = getattr(owner, field)
        if text:
            self._owners.append(owner)
            self._fields.append(field)
            self._texts.append(text)

    def _attributes(self, attributes: Any, event: str | None) -> None:
        dropped = []
        for place, attribute in enumerate(attributes):
            fate = self._rules.fate(attribute.key, event)
            if fate is Fate.LOOK:
                self._attribute(attribute, None)
            elif fate is Fate.DROP:
                dropped.append(place)
                self._counts["content"] += 1
            elif fate is not Fate.KEEP:
                self._replace(attribute, fate)
        for place in reversed(dropped):
            del attributes[place]

    def _attribute(self, attribute: Any, inherited: Name | None) -> None:
        key = attribute.key
        self._value(attribute.value, self._rules.name(key) or inherited)
        if self._rules.is_suspect_key(key):
            self._look(attribute, "key")

    def _replace(self, attribute: Any, fate: Fate) -> None:
        content = _content(attribute.value)
        if fate is Fate.HASH:
            attribute.key = hash_key(attribute.key)
            attribute.value.string_value = self._rules.content_hash(content)
            self._counts["content"] += 1
        else:
            attribute.value.string_value = self._redactor.mark("attribute", content.decode("utf-8", "backslashreplace"))

    def _strip_body(self, record: Any) -> None:
        if not record.HasField("body"):
            return
        content = _content(record.body)
        record.ClearField("body")
        self._counts["content"] += 1
        if self._rules.privacy.content == "hash":
            record.attributes.add(key=hash_key("body")).value.string_value = self._rules.content_hash(content)

    def _value(self, value: Any, name: Name | None) -> None:
        member = value.WhichOneof("value")
        if member == "string_value":
            if name is None:
                self._look(value, "string_value")
            else:
                value.string_value = self._redactor.value(name, value.string_value)
        elif member == "kvlist_value":
            for attribute in list(value.kvlist_value.values):
                self._nested(attribute, name)
        elif member == "array_value":
            for element, own in _elements(value.array_value.values, name, self._rules):
                self._value(element, own)
        elif member == "bytes_value":
            text = value.bytes_value.decode("latin-1")
            after = self._redactor.text(text) if name is None else self._redactor.value(name, text)
            if after != text:
                value.bytes_value = after.encode("latin-1")

    def _nested(self, attribute: Any, name: Name | None) -> None:
        fate = self._rules.fate(attribute.key, None)
        if fate is Fate.REPLACE:
            self._replace(attribute, fate)
        elif fate is not Fate.KEEP:
            self._attribute(attribute, name)


def _elements(values: Any, name: Name | None, rules: Rules) -> Iterator[tuple[Any, Name | None]]:
    """The elements of an array, each with the name it stands under: in `["--api-key", "…"]` the element before it."""
    option: Name | None = None
    words: list[str] = []
    for element in values:
        yield element, option or name
        words.append(element.string_value[:LONGEST_WORD])
        option = rules.name_after(words)


def _content(value: Any) -> bytes:
    """The bytes of a value: of a text the text itself, so that both encodings give one hash."""
    if value.WhichOneof("value") == "string_value":
        text: str = value.string_value
        return text.encode()
    content: bytes = value.SerializeToString(deterministic=True)
    return content


def _event_name(attributes: Any) -> str:
    for attribute in attributes:
        if attribute.key == "event.name":
            name: str = attribute.value.string_value
            return name
    return ""
