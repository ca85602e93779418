-- Raw tables: OTLP's own words, one row per thing received, nothing interpreted.
-- Ids are lower-case hex. Times are the exact nanosecond integers of the wire plus a TIMESTAMP_NS in UTC that is NULL where
-- the integer is 0 or does not fit. There is no primary key and no index: a key cost +60% on writes, so duplicates are kept
-- out by an anti-join when rows are loaded.

create table resources (
    resource_id varchar not null,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger,
    entity_refs json,
    schema_url varchar
);

create table scopes (
    scope_id varchar not null,
    name varchar,
    version varchar,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger,
    schema_url varchar
);

create table spans (
    trace_id varchar not null,
    span_id varchar not null,
    parent_span_id varchar,
    trace_state varchar,
    flags uinteger,
    name varchar,
    kind integer,
    start_time_unix_nano ubigint,
    end_time_unix_nano ubigint,
    start_time timestamp_ns,
    end_time timestamp_ns,
    duration_ns bigint,
    status_code integer,
    status_message varchar,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger,
    dropped_events_count uinteger,
    dropped_links_count uinteger,
    resource_id varchar,
    service_name varchar,
    scope_id varchar,
    scope_name varchar,
    scope_version varchar,
    problems varchar[],
    received_at timestamp
);

create table span_events (
    trace_id varchar not null,
    span_id varchar not null,
    event_index uinteger not null,
    time_unix_nano ubigint,
    time timestamp_ns,
    name varchar,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger
);

create table span_links (
    trace_id varchar not null,
    span_id varchar not null,
    link_index uinteger not null,
    linked_trace_id varchar,
    linked_span_id varchar,
    trace_state varchar,
    flags uinteger,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger
);

create table log_records (
    log_record_id varchar not null,
    trace_id varchar,
    span_id varchar,
    time_unix_nano ubigint,
    observed_time_unix_nano ubigint,
    time timestamp_ns,
    observed_time timestamp_ns,
    severity_number integer,
    severity_text varchar,
    event_name varchar,
    body variant,
    attributes map(varchar, variant),
    dropped_attributes_count uinteger,
    flags uinteger,
    resource_id varchar,
    service_name varchar,
    scope_id varchar,
    scope_name varchar,
    scope_version varchar,
    received_at timestamp
);
