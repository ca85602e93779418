"""Protobuf request bytes to one nested Arrow record batch, by way of ptars.

ptars cannot hold a recursive message, and OTLP's AnyValue is one. So it is given a wire-compatible description of OTLP
in which the two recursive fields, `array_value` and `kvlist_value`, are plain bytes; `any_value` decodes those after.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

import ptars
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError as ProtobufDecodeError
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from spanscore.errors import DecodeError

MAX_BATCH_BYTES = 1 << 30
"""Arrow's string offsets are 32-bit: more bytes than this are never decoded in one call."""

MAX_EMPTY_ELEMENTS = 1_000_000
"""An empty element costs 2 bytes on the wire and over 100 in memory, so their number is bounded before decoding."""

RECURSIVE_FIELDS = frozenset({"array_value", "kvlist_value"})

TRACES = trace_service_pb2.ExportTraceServiceRequest
LOGS = logs_service_pb2.ExportLogsServiceRequest

_FILES = (common_pb2, resource_pb2, trace_pb2, logs_pb2, trace_service_pb2, logs_service_pb2)


def read_batch(payloads: Sequence[bytes], request: type[Message]) -> pa.RecordBatch:
    """One row per payload, nested as the request message is.

    Args:
        payloads: serialised requests of one kind.
        request: `TRACES` or `LOGS`.

    Raises:
        DecodeError: a payload is not a valid request; which one is not said.
    """
    if sum(map(len, payloads)) > MAX_BATCH_BYTES:
        raise DecodeError("too_large", f"more than {MAX_BATCH_BYTES:,} bytes in one call")
    for payload in payloads:
        _refuse_element_bomb(payload)
    batch = _to_arrow(payloads, request)
    if _has_value_set_twice(batch):
        batch = _to_arrow([_canonical(payload, request) for payload in payloads], request)
    return batch


def _to_arrow(payloads: Sequence[bytes], request: type[Message]) -> pa.RecordBatch:
    try:
        return _reader(request.DESCRIPTOR.full_name).list_to_record_batch(list(payloads))
    except ValueError as error:
        raise DecodeError("malformed_protobuf", str(error)) from None


@cache
def _reader(message_name: str) -> Any:
    pool = descriptor_pool.DescriptorPool()
    for module in _FILES:
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            for declared in message.field:
                if message.name == "AnyValue" and declared.name in RECURSIVE_FIELDS:
                    declared.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
                    declared.ClearField("type_name")
        pool.AddSerializedFile(file.SerializeToString())
    descriptor = pool.FindMessageTypeByName(message_name)
    return ptars.HandlerPool([descriptor.file]).get_for_message(descriptor)


def _refuse_element_bomb(payload: bytes) -> None:
    if len(payload) < 2 * MAX_EMPTY_ELEMENTS or payload.count(0) <= MAX_EMPTY_ELEMENTS:
        return
    # tags of the repeated message fields 1, 2, 3, 6, 9, 11 and 13, each followed by a length of zero
    empty = sum(payload.count(bytes((number << 3 | 2, 0))) for number in (1, 2, 3, 6, 9, 11, 13))
    if empty > MAX_EMPTY_ELEMENTS:
        raise DecodeError("too_many_elements", f"{empty:,} empty elements; at most {MAX_EMPTY_ELEMENTS:,} are read")


def _has_value_set_twice(batch: pa.RecordBatch) -> bool:
    """Whether a value has two members: legal on the wire, the last one counts, but ptars does not keep the order."""
    return any(_sets_two_members(values) for column in batch.columns for values in _any_values(column))


def _any_values(column: pa.Array) -> list[pa.StructArray]:
    found = []
    if pa.types.is_list(column.type):
        column = column.flatten()
    if len(column) and pa.types.is_struct(column.type):
        names = [member.name for member in column.type]
        if "kvlist_value" in names:
            found.append(column)
        else:
            for name in names:
                found.extend(_any_values(column.field(name)))
    return found


def _sets_two_members(values: pa.StructArray) -> bool:
    members = [values.field(position) for position in range(values.type.num_fields)]
    members = [member for member in members if member.null_count < len(member)]
    if len(members) < 2:
        return False
    filled = reduce(pc.or_, map(pc.is_valid, members))
    return bool(sum(len(member) - member.null_count for member in members) > pc.sum(filled).as_py())


def _canonical(payload: bytes, request: type[Message]) -> bytes:
    try:
        return request.FromString(payload).SerializeToString()
    except ProtobufDecodeError as error:
        raise DecodeError("malformed_protobuf", str(error)) from None
