-- The least that a store of telemetry does: plain tables of the same columns as the raw tables, filled from what the decoder
-- hands over. Nothing is compared, counted or derived, and resources and scopes are stored as often as they come.
create temp view decoded_spans as
select
    lower(hex(trace_id)) as trace_id,
    lower(hex(span_id)) as span_id,
    lower(hex(parent_span_id)) as parent_span_id,
    trace_state,
    flags,
    name,
    kind,
    start_time_unix_nano,
    end_time_unix_nano,
    wire_time(start_time_unix_nano) as start_time,
    wire_time(end_time_unix_nano) as end_time,
    status_code,
    status_message,
    attribute_map(attributes) as attributes,
    dropped_attributes_count,
    dropped_events_count,
    dropped_links_count,
    resource_index,
    scope_index,
    problems
from arrow_spans;

create temp view decoded_span_events as
select
    span_index,
    event_index,
    time_unix_nano,
    wire_time(time_unix_nano) as time,
    name,
    attribute_map(attributes) as attributes,
    dropped_attributes_count
from arrow_span_events;

create temp view decoded_span_links as
select
    span_index,
    link_index,
    lower(hex(linked_trace_id)) as linked_trace_id,
    lower(hex(linked_span_id)) as linked_span_id,
    trace_state,
    flags,
    attribute_map(attributes) as attributes,
    dropped_attributes_count
from arrow_span_links;

create temp view decoded_resources as
select resource_index, attribute_map(attributes) as attributes, dropped_attributes_count, schema_url
from arrow_resources;

create temp view decoded_scopes as
select scope_index, name, version, attribute_map(attributes) as attributes, dropped_attributes_count, schema_url
from arrow_scopes;

create table spans as from decoded_spans limit 0;
create table span_events as from decoded_span_events limit 0;
create table span_links as from decoded_span_links limit 0;
create table resources as from decoded_resources limit 0;
create table scopes as from decoded_scopes limit 0;
