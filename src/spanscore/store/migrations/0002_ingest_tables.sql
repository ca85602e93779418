-- What loading leaves beside the rows: contradicting versions of a span, what became of everything received, what the
-- trajectory still has to take up.

-- A span received again with other content. The first version is in `spans`; each other content is one row here, with its
-- events and links, because those of a conflicting version are not in `span_events` and `span_links`.
create table span_conflicts (
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
    received_at timestamp,
    events struct(
        event_index uinteger,
        time_unix_nano ubigint,
        name varchar,
        attributes map(varchar, variant),
        dropped_attributes_count uinteger
    )[],
    links struct(
        link_index uinteger,
        linked_trace_id varchar,
        linked_span_id varchar,
        trace_state varchar,
        flags uinteger,
        attributes map(varchar, variant),
        dropped_attributes_count uinteger
    )[]
);

create table ingest_accounting (
    ingest_id varchar not null,
    recorded_at timestamp not null,
    source varchar,
    signal varchar not null,
    outcome varchar not null,
    reason varchar,
    n bigint not null
);

-- What the loader has moved from the spool: written in the transaction that stores the rows, so both roll back together.
create table spool_manifest (
    segment varchar not null,
    end_offset bigint not null,
    records bigint not null,
    loaded_at timestamp not null
);

-- Traces that have rows the trajectory does not know yet: written with the rows, deleted with the rebuild.
create table pending_traces (
    trace_id varchar not null
);

create table store_meta (
    key varchar not null,
    value varchar not null
);
