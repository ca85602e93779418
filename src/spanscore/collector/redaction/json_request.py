"""Redaction of an OTLP/JSON request: parsed with orjson, as the decoder does, changed in place, written anew."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from spanscore.collector.redaction.content import hash_key, is_message
from spanscore.collector.redaction.names import Name
from spanscore.collector.redaction.rules import LONGEST_WORD, Fate, Rules
from spanscore.errors import DecodeError

# Strings that are numbers: a request where they are anything else is not accepted.
_EXACT = frozenset(
    {"intValue", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano", "doubleValue"}
)


def redact_json(payload: bytes, rules: Rules, counts: Counter[str]) -> bytes:
    """The request without what it must not hold.

    Raises:
        DecodeError: the bytes are no JSON, or nested so deeply that nobody knows what is in them.
    """
    try:
        request = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        raise DecodeError("malformed_json", str(error)) from None
    try:
        _JsonRequest(rules, counts).redact(request)
    except RecursionError:
        raise DecodeError("malformed_json", "values are nested too deeply to be looked through") from None
    return orjson.dumps(request)


class _JsonRequest:
    """One request while it is changed: texts are gathered first and looked at all together."""

    def __init__(self, rules: Rules, counts: Counter[str]) -> None:
        self._rules = rules
        self._counts = counts
        self._redactor = rules.redactor(counts)
        self._places: list[tuple[Any, Any]] = []
        self._texts: list[str] = []

    def redact(self, request: Any) -> None:
        self._walk(request)
        if not self._rules.redacts:
            return
        for number, text in self._redactor.texts(self._texts).items():
            owner, place = self._places[number]
            owner[place] = text

    def _walk(self, node: Any) -> None:
        """Every object and list, known to OTLP or not: an unknown field is stored in the spool like any other."""
        if isinstance(node, list):
            for place, element in enumerate(node):
                self._member(node, place, element)
            return
        event = _event_name(node)
        if self._rules.strips_content and event is not None and is_message(event):
            self._strip_body(node)
        for key, member in list(node.items()):
            if key == "attributes" and isinstance(member, list):
                self._attributes(member, event)
            elif key == "body" and isinstance(member, dict):
                self._value(member, None)
            elif key not in _EXACT:
                self._member(node, key, member)
            self._rename(node, key)

    def _member(self, owner: Any, place: Any, member: Any) -> None:
        if isinstance(member, str):
            self._look(owner, place)
        elif isinstance(member, dict | list):
            self._walk(member)

    def _rename(self, node: dict[str, Any], key: str) -> None:
        """A key of the document itself that looks like a secret: OTLP has none, so nothing that is stored is lost."""
        if self._rules.is_suspect_key(key):
            after = self._redactor.text(key)
            if after != key:
                del node[key]

    def _look(self, owner: Any, place: Any) -> None:
        self._places.append((owner, place))
        self._texts.append(owner[place])

    def _attributes(self, attributes: list[Any], event: str | None) -> None:
        kept = []
        for attribute in attributes:
            if not _is_attribute(attribute):
                self._member([attribute], 0, attribute)
                kept.append(attribute)
                continue
            fate = self._rules.fate(attribute["key"], event)
            if fate is Fate.DROP:
                self._counts["content"] += 1
                continue
            if fate is Fate.LOOK:
                self._attribute(attribute, None)
            elif fate is not Fate.KEEP:
                self._replace(attribute, fate)
            kept.append(attribute)
        attributes[:] = kept

    def _attribute(self, attribute: dict[str, Any], inherited: Name | None) -> None:
        key = attribute["key"]
        for name, member in list(attribute.items()):
            if name == "value" and isinstance(member, dict):
                self._value(member, self._rules.name(key) or inherited)
            elif name != "key":
                self._member(attribute, name, member)
        if self._rules.is_suspect_key(key):
            self._look(attribute, "key")

    def _replace(self, attribute: dict[str, Any], fate: Fate) -> None:
        content = _content(attribute.get("value"))
        if fate is Fate.HASH:
            attribute["key"] = hash_key(attribute["key"])
            text = self._rules.content_hash(content)
            self._counts["content"] += 1
        else:
            text = self._redactor.mark("attribute", content.decode("utf-8", "backslashreplace"))
        attribute["value"] = {"stringValue": text}

    def _strip_body(self, record: dict[str, Any]) -> None:
        if record.get("body") is None:
            return
        content = _content(record.pop("body"))
        self._counts["content"] += 1
        if self._rules.privacy.content == "hash":
            attributes = record.get("attributes")
            record["attributes"] = [
                *(attributes if isinstance(attributes, list) else []),
                {"key": hash_key("body"), "value": {"stringValue": self._rules.content_hash(content)}},
            ]

    def _value(self, value: dict[str, Any], name: Name | None) -> None:
        for member, content in list(value.items()):
            if member == "stringValue" and isinstance(content, str):
                if name is None:
                    self._look(value, member)
                else:
                    value[member] = self._redactor.value(name, content)
            elif member == "kvlistValue" and isinstance(content, dict):
                self._nested(content, name)
            elif member == "arrayValue" and isinstance(content, dict):
                for element, own in _elements(content, name, self._rules):
                    self._value(element, own)
            elif member == "bytesValue" and isinstance(content, str):
                value[member] = self._bytes(content, name)
            elif member not in _EXACT:
                self._member(value, member, content)

    def _nested(self, content: dict[str, Any], name: Name | None) -> None:
        for attribute in _list(content):
            if not _is_attribute(attribute):
                continue
            fate = self._rules.fate(attribute["key"], None)
            if fate is Fate.REPLACE:
                self._replace(attribute, fate)
            elif fate is not Fate.KEEP:
                self._attribute(attribute, name)

    def _bytes(self, content: str, name: Name | None) -> str:
        try:
            decoded = base64.b64decode(content.replace("-", "+").replace("_", "/") + "=" * (-len(content) % 4))
        except (binascii.Error, ValueError):
            return content
        text = decoded.decode("latin-1")
        after = self._redactor.text(text) if name is None else self._redactor.value(name, text)
        return content if after == text else base64.b64encode(after.encode("latin-1")).decode()


def _is_attribute(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("key"), str)


def _list(content: dict[str, Any]) -> list[Any]:
    values = content.get("values")
    return values if isinstance(values, list) else []


def _elements(content: dict[str, Any], name: Name | None, rules: Rules) -> Iterator[tuple[dict[str, Any], Name | None]]:
    """The elements of an array, each with the name it stands under: in `["--api-key", "…"]` the element before it."""
    option: Name | None = None
    words: list[str] = []
    for element in _list(content):
        if not isinstance(element, dict):
            continue
        yield element, option or name
        text = element.get("stringValue")
        words.append(text[:LONGEST_WORD] if isinstance(text, str) else "")
        option = rules.name_after(words)


def _content(value: Any) -> bytes:
    """The bytes of a value: of a text the text itself, so that both encodings give one hash."""
    if isinstance(value, dict) and isinstance(value.get("stringValue"), str):
        text: str = value["stringValue"]
        return text.encode()
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _event_name(node: dict[str, Any]) -> str | None:
    """The name of a span event or log record; None for any other object (a span's name is no event's)."""
    if (
        "timeUnixNano" not in node
        and "observedTimeUnixNano" not in node
        and "eventName" not in node
        and "body" not in node
    ):
        return None
    for name in (node.get("eventName"), node.get("name")):
        if isinstance(name, str) and name:
            return name
    attributes = node.get("attributes")
    for attribute in attributes if isinstance(attributes, list) else []:
        if _is_attribute(attribute) and attribute["key"] == "event.name" and isinstance(attribute.get("value"), dict):
            return str(attribute["value"].get("stringValue", ""))
    return ""
