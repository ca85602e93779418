-- What the tables that loading leaves behind mean, with units.

comment on table span_conflicts is 'One row per further content that came under the id of a span already stored; never used for scores.';
comment on column span_conflicts.trace_id is 'Trace, 32 lower-case hex digits.';
comment on column span_conflicts.span_id is 'Span within its trace, 16 lower-case hex digits.';
comment on column span_conflicts.parent_span_id is
    'Parent, 16 lower-case hex digits; NULL = a root, or an invalid parent (see problems).';
comment on column span_conflicts.trace_state is 'W3C tracestate; NULL = not sent.';
comment on column span_conflicts.flags is 'W3C trace flags and OTLP''s flags above them, as sent [bits].';
comment on column span_conflicts.name is 'Span name as sent.';
comment on column span_conflicts.kind is
    'OTLP SpanKind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer; others as sent.';
comment on column span_conflicts.start_time_unix_nano is 'Start as sent [ns since 1970-01-01 UTC]; 0 = not sent.';
comment on column span_conflicts.end_time_unix_nano is
    'End as sent [ns since 1970-01-01 UTC]; 0 = not sent, the span is unfinished.';
comment on column span_conflicts.start_time is
    'Start [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column span_conflicts.end_time is 'End [UTC, ns]; NULL where the integer is 0 or no timestamp can hold it.';
comment on column span_conflicts.duration_ns is
    'End - start [ns]; NULL when either is missing or the end is before the start (see problems).';
comment on column span_conflicts.status_code is 'OTLP StatusCode: 0 unset, 1 ok, 2 error; others as sent.';
comment on column span_conflicts.status_message is 'Status message; NULL = not sent.';
comment on column span_conflicts.attributes is
    'Span attributes with their types; a NULL value is OTLP''s empty value; an absent list is the empty map.';
comment on column span_conflicts.dropped_attributes_count is 'Attributes the emitter dropped [count].';
comment on column span_conflicts.dropped_events_count is 'Events the emitter dropped [count].';
comment on column span_conflicts.dropped_links_count is 'Links the emitter dropped [count].';
comment on column span_conflicts.resource_id is 'Row of resources.';
comment on column span_conflicts.service_name is 'service.name of the resource; NULL = not set.';
comment on column span_conflicts.scope_id is 'Row of scopes.';
comment on column span_conflicts.scope_name is 'Name of the scope; empty = not sent.';
comment on column span_conflicts.scope_version is 'Version of the scope; NULL = not sent.';
comment on column span_conflicts.problems is
    'What is odd about the span, such as bad_parent_id, duplicate_attribute_key, no_start_time, no_end_time, end_before_start; NULL = nothing.';
comment on column span_conflicts.received_at is 'When it was loaded into the store [UTC].';
comment on column span_conflicts.events is 'Events of this version in order.';
comment on column span_conflicts.links is 'Links of this version in order.';

comment on table ingest_accounting is 'What became of everything received: per load and signal, received = stored + duplicate + conflict + rejected.';
comment on column ingest_accounting.ingest_id is 'One load: the rows of one transaction.';
comment on column ingest_accounting.recorded_at is 'When it was loaded [UTC].';
comment on column ingest_accounting.source is 'Where it came from, such as otlp/http or a file.';
comment on column ingest_accounting.signal is 'spans or log_records.';
comment on column ingest_accounting.outcome is
    'received, stored, duplicate (known already, same content), conflict (known already, other content) or rejected.';
comment on column ingest_accounting.reason is 'Why, for rejected; NULL for the others.';
comment on column ingest_accounting.n is 'Spans or log records [count]; outcomes without any have no row.';

comment on table spool_manifest is 'How far the loader has moved each segment of the collector''s spool.';
comment on column spool_manifest.segment is 'Segment file of the spool.';
comment on column spool_manifest.end_offset is
    'Where the next record to load begins [bytes from the start of the segment].';
comment on column spool_manifest.records is 'Spool records moved by this load [count].';
comment on column spool_manifest.loaded_at is 'When [UTC].';

comment on table pending_traces is 'Traces with rows that the trajectory tables do not show yet.';
comment on column pending_traces.trace_id is 'Trace, 32 lower-case hex digits.';

comment on table store_meta is 'Facts about the store as a whole.';
comment on column store_meta.key is 'Name of the fact, such as model_version.';
comment on column store_meta.value is 'The fact as text.';
