-- The spans, events and links of one batch in the shape of the tables. `span_index` is the span's place in the batch.

create or replace temp table batch_ids as
select
    span_index,
    lower(hex(trace_id)) as trace_id,
    lower(hex(span_id)) as span_id
from arrow_spans;

create or replace temp view incoming_spans as
with wire as (
    select
        * replace (
            coalesce(start_time_unix_nano, 0) as start_time_unix_nano,
            coalesce(end_time_unix_nano, 0) as end_time_unix_nano
        ),
        start_time_unix_nano > 0 and end_time_unix_nano >= start_time_unix_nano as is_timed
    from arrow_spans
)
select
    wire.span_index,
    lower(hex(wire.trace_id)) as trace_id,
    lower(hex(wire.span_id)) as span_id,
    lower(hex(wire.parent_span_id)) as parent_span_id,
    nullif(wire.trace_state, '') as trace_state,
    coalesce(wire.flags, 0) as flags,
    coalesce(wire.name, '') as name,
    coalesce(wire.kind, 0) as kind,
    wire.start_time_unix_nano,
    wire.end_time_unix_nano,
    wire_time(wire.start_time_unix_nano) as start_time,
    wire_time(wire.end_time_unix_nano) as end_time,
    case
        when wire.is_timed then try_cast(wire.end_time_unix_nano - wire.start_time_unix_nano as bigint)
    end as duration_ns,
    coalesce(wire.status_code, 0) as status_code,
    nullif(wire.status_message, '') as status_message,
    attribute_map(wire.attributes) as attributes,
    coalesce(wire.dropped_attributes_count, 0) as dropped_attributes_count,
    coalesce(wire.dropped_events_count, 0) as dropped_events_count,
    coalesce(wire.dropped_links_count, 0) as dropped_links_count,
    batch_resources.resource_id,
    batch_resources.attributes['service.name']::varchar as service_name,
    batch_scopes.scope_id,
    batch_scopes.name as scope_name,
    batch_scopes.version as scope_version,
    case
        when wire.is_timed then wire.problems
        else list_concat(
            coalesce(wire.problems, []),
            case when wire.start_time_unix_nano = 0 then ['no_start_time'] else [] end,
            case
                when wire.end_time_unix_nano = 0 then ['no_end_time']
                when wire.end_time_unix_nano < wire.start_time_unix_nano then ['end_before_start']
                else []
            end
        )
    end as problems,
    current_localtimestamp()::timestamp as received_at
from wire
left join batch_resources using (resource_index)
left join batch_scopes using (scope_index);

create or replace temp view incoming_events as
select
    arrow_span_events.span_index,
    batch_ids.trace_id,
    batch_ids.span_id,
    arrow_span_events.event_index,
    coalesce(arrow_span_events.time_unix_nano, 0) as time_unix_nano,
    wire_time(arrow_span_events.time_unix_nano) as time,
    coalesce(arrow_span_events.name, '') as name,
    attribute_map(arrow_span_events.attributes) as attributes,
    coalesce(arrow_span_events.dropped_attributes_count, 0) as dropped_attributes_count
from arrow_span_events
join batch_ids using (span_index);

create or replace temp view incoming_links as
select
    arrow_span_links.span_index,
    batch_ids.trace_id,
    batch_ids.span_id,
    arrow_span_links.link_index,
    lower(hex(arrow_span_links.linked_trace_id)) as linked_trace_id,
    lower(hex(arrow_span_links.linked_span_id)) as linked_span_id,
    nullif(arrow_span_links.trace_state, '') as trace_state,
    coalesce(arrow_span_links.flags, 0) as flags,
    attribute_map(arrow_span_links.attributes) as attributes,
    coalesce(arrow_span_links.dropped_attributes_count, 0) as dropped_attributes_count
from arrow_span_links
join batch_ids using (span_index);
