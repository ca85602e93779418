-- Compares the spans that share an id in full, attributes in any order, events and links included; when the span was
-- received and what the decoder remarked do not count. The first content of an id is stored, every other content is one
-- conflict, and whatever equals one of them is a duplicate.

create or replace temp table repeated_events as
select
    -1 as span_index,
    trace_id,
    span_id,
    event_list(event_index, time_unix_nano, name, attributes, dropped_attributes_count) as events
from span_events
semi join repeated_ids using (trace_id, span_id)
group by trace_id, span_id
union all
select
    span_index,
    trace_id,
    span_id,
    event_list(event_index, time_unix_nano, name, attributes, dropped_attributes_count) as events
from incoming_events
semi join repeated_ids using (trace_id, span_id)
group by span_index, trace_id, span_id;

create or replace temp table repeated_links as
select
    -1 as span_index,
    trace_id,
    span_id,
    link_list(
        link_index, linked_trace_id, linked_span_id, trace_state, flags, attributes, dropped_attributes_count
    ) as links
from span_links
semi join repeated_ids using (trace_id, span_id)
group by trace_id, span_id
union all
select
    span_index,
    trace_id,
    span_id,
    link_list(
        link_index, linked_trace_id, linked_span_id, trace_state, flags, attributes, dropped_attributes_count
    ) as links
from incoming_links
semi join repeated_ids using (trace_id, span_id)
group by span_index, trace_id, span_id;

-- Every version of the repeated spans: in the store (-1), kept aside by earlier loads (also -1), in this batch (>= 0).
create or replace temp table repeated_spans as
with versions as (
    select -1 as span_index, 0 as kept_aside, * from spans semi join repeated_ids using (trace_id, span_id)
    union all by name
    select 0 as kept_aside, * from incoming_spans semi join repeated_ids using (trace_id, span_id)
)
select
    versions.*,
    coalesce(repeated_events.events, []) as events,
    coalesce(repeated_links.links, []) as links
from versions
left join repeated_events using (span_index, trace_id, span_id)
left join repeated_links using (span_index, trace_id, span_id)
union all by name
select -1 as span_index, 1 as kept_aside, * from span_conflicts semi join repeated_ids using (trace_id, span_id);

insert into set_aside
with contents as (
    select
        span_index,
        kept_aside,
        trace_id,
        span_id,
        struct_pack(
            parent_span_id := parent_span_id,
            trace_state := trace_state,
            flags := flags,
            name := name,
            kind := kind,
            start_time_unix_nano := start_time_unix_nano,
            end_time_unix_nano := end_time_unix_nano,
            status_code := status_code,
            status_message := status_message,
            dropped_attributes_count := dropped_attributes_count,
            dropped_events_count := dropped_events_count,
            dropped_links_count := dropped_links_count,
            resource_id := resource_id,
            scope_id := scope_id,
            attributes := attribute_content(attributes),
            events := list_transform(
                events,
                lambda e: struct_pack(
                    time_unix_nano := e.time_unix_nano,
                    name := e.name,
                    dropped_attributes_count := e.dropped_attributes_count,
                    attributes := attribute_content(e.attributes)
                )
            ),
            links := list_transform(
                links,
                lambda l: struct_pack(
                    linked_trace_id := l.linked_trace_id,
                    linked_span_id := l.linked_span_id,
                    trace_state := l.trace_state,
                    flags := l.flags,
                    dropped_attributes_count := l.dropped_attributes_count,
                    attributes := attribute_content(l.attributes)
                )
            )
        )::json::varchar as content
    from repeated_spans
),
ranked as (
    select
        span_index,
        row_number() over (partition by trace_id, span_id order by span_index, kept_aside) as version,
        row_number() over (partition by trace_id, span_id, content order by span_index, kept_aside) as repetition
    from contents
)
select
    span_index,
    if(repetition > 1, 'duplicate', 'conflict') as verdict
from ranked
where span_index >= 0
    and version > 1;

insert into span_conflicts by name
select repeated_spans.* exclude (span_index, kept_aside)
from repeated_spans
join set_aside using (span_index)
where set_aside.verdict = 'conflict';
