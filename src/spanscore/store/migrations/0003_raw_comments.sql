-- What the raw tables and their columns mean, with units: the data model page is made of these.

comment on table resources is 'One row per distinct OTLP resource: the process or service that emitted telemetry.';
comment on column resources.resource_id is 'MD5 of the content of the row, lower-case hex; equal resources have one row.';
comment on column resources.attributes is
    'Resource attributes with their types, such as service.name; an absent list is the empty map.';
comment on column resources.dropped_attributes_count is 'Attributes the emitter dropped [count].';
comment on column resources.entity_refs is 'OTLP entity references as JSON; NULL = none sent.';
comment on column resources.schema_url is 'Schema of the resource; NULL = not sent.';

comment on table scopes is 'One row per distinct OTLP instrumentation scope: the library that wrote the telemetry.';
comment on column scopes.scope_id is 'MD5 of the content of the row, lower-case hex; equal scopes have one row.';
comment on column scopes.name is 'Name of the instrumentation library; empty = not sent.';
comment on column scopes.version is 'Version of the library; NULL = not sent.';
comment on column scopes.attributes is 'Scope attributes with their types.';
comment on column scopes.dropped_attributes_count is 'Attributes the emitter dropped [count].';
comment on column scopes.schema_url is 'Schema of what the scope emits; NULL = not sent.';

comment on table spans is 'One row per span, exactly as received; the first version wins when a span id comes with several contents.';
comment on column spans.trace_id is 'Trace, 32 lower-case hex digits.';
comment on column spans.span_id is 'Span within its trace, 16 lower-case hex digits.';
comment on column spans.parent_span_id is
    'Parent, 16 lower-case hex digits; NULL = a root, or an invalid parent (see problems).';
comment on column spans.trace_state is 'W3C tracestate; NULL = not sent.';
comment on column spans.flags is 'W3C trace flags and OTLP''s flags above them, as sent [bits].';
comment on column spans.name is 'Span name as sent.';
comment on column spans.kind is
    'OTLP SpanKind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer; others as sent.';
comment on column spans.start_time_unix_nano is 'Start as sent [ns since 1970-01-01 UTC]; 0 = not sent.';
comment on column spans.end_time_unix_nano is
    'End as sent [ns since 1970-01-01 UTC]; 0 = not sent, the span is unfinished.';
comment on column spans.start_time is 'Start [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column spans.end_time is 'End [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column spans.duration_ns is
    'End - start [ns]; NULL when either is missing or the end is before the start (see problems).';
comment on column spans.status_code is 'OTLP StatusCode: 0 unset, 1 ok, 2 error; others as sent.';
comment on column spans.status_message is 'Status message; NULL = not sent.';
comment on column spans.attributes is
    'Span attributes with their types; a NULL value is OTLP''s empty value; an absent list is the empty map.';
comment on column spans.dropped_attributes_count is 'Attributes the emitter dropped [count].';
comment on column spans.dropped_events_count is 'Events the emitter dropped [count].';
comment on column spans.dropped_links_count is 'Links the emitter dropped [count].';
comment on column spans.resource_id is 'Row of resources.';
comment on column spans.service_name is 'service.name of the resource; NULL = not set.';
comment on column spans.scope_id is 'Row of scopes.';
comment on column spans.scope_name is 'Name of the scope; empty = not sent.';
comment on column spans.scope_version is 'Version of the scope; NULL = not sent.';
comment on column spans.problems is
    'What is odd about the span, such as bad_parent_id, duplicate_attribute_key, no_start_time, no_end_time, end_before_start; NULL = nothing.';
comment on column spans.received_at is 'When it was loaded into the store [UTC].';

comment on table span_events is 'One row per event of a stored span.';
comment on column span_events.trace_id is 'Trace of the span, 32 lower-case hex digits.';
comment on column span_events.span_id is 'Span, 16 lower-case hex digits.';
comment on column span_events.event_index is 'Place of the event in the span, from 0.';
comment on column span_events.time_unix_nano is 'Time as sent [ns since 1970-01-01 UTC]; 0 = not sent.';
comment on column span_events.time is 'Time [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column span_events.name is 'Event name as sent.';
comment on column span_events.attributes is 'Event attributes with their types.';
comment on column span_events.dropped_attributes_count is 'Attributes the emitter dropped [count].';

comment on table span_links is 'One row per link of a stored span to another span.';
comment on column span_links.trace_id is 'Trace of the span, 32 lower-case hex digits.';
comment on column span_links.span_id is 'Span, 16 lower-case hex digits.';
comment on column span_links.link_index is 'Place of the link in the span, from 0.';
comment on column span_links.linked_trace_id is 'Trace of the linked span, lower-case hex.';
comment on column span_links.linked_span_id is 'The linked span, lower-case hex.';
comment on column span_links.trace_state is 'W3C tracestate of the linked span; NULL = not sent.';
comment on column span_links.flags is 'Flags of the link as sent [bits].';
comment on column span_links.attributes is 'Link attributes with their types.';
comment on column span_links.dropped_attributes_count is 'Attributes the emitter dropped [count].';

comment on table log_records is 'One row per OTLP log record; records equal in everything are one row.';
comment on column log_records.log_record_id is
    'MD5 of all the record says, lower-case hex; log records have no id of their own.';
comment on column log_records.trace_id is 'Trace it belongs to, 32 lower-case hex digits; NULL = none.';
comment on column log_records.span_id is 'Span it belongs to, 16 lower-case hex digits; NULL = none.';
comment on column log_records.time_unix_nano is 'When it happened, as sent [ns since 1970-01-01 UTC]; 0 = not sent.';
comment on column log_records.observed_time_unix_nano is
    'When the emitter saw it, as sent [ns since 1970-01-01 UTC]; 0 = not sent.';
comment on column log_records.time is
    'When it happened [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column log_records.observed_time is
    'When the emitter saw it [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column log_records.severity_number is 'OTLP SeverityNumber, 1 trace to 24 fatal; 0 = unspecified.';
comment on column log_records.severity_text is 'Severity in the words of the source; NULL = not sent.';
comment on column log_records.event_name is
    'Name of the event, such as gen_ai.client.inference.operation.details; NULL = not an event.';
comment on column log_records.body is 'Body with its type; objects and arrays keep their structure; NULL = empty.';
comment on column log_records.attributes is 'Attributes with their types.';
comment on column log_records.dropped_attributes_count is 'Attributes the emitter dropped [count].';
comment on column log_records.flags is 'Flags as sent [bits].';
comment on column log_records.resource_id is 'Row of resources.';
comment on column log_records.service_name is 'service.name of the resource; NULL = not set.';
comment on column log_records.scope_id is 'Row of scopes.';
comment on column log_records.scope_name is 'Name of the scope; empty = not sent.';
comment on column log_records.scope_version is 'Version of the scope; NULL = not sent.';
comment on column log_records.received_at is 'When it was loaded into the store [UTC].';
