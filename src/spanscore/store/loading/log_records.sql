-- Log records carry no id of their own: one is made of all they say, so that the same record twice is stored once.

create or replace temp table batch_log_ids as
select
    arrow_log_records.log_index,
    md5(
        struct_pack(
            trace_id := hex(arrow_log_records.trace_id),
            span_id := hex(arrow_log_records.span_id),
            time_unix_nano := coalesce(arrow_log_records.time_unix_nano, 0),
            observed_time_unix_nano := coalesce(arrow_log_records.observed_time_unix_nano, 0),
            severity_number := coalesce(arrow_log_records.severity_number, 0),
            severity_text := nullif(arrow_log_records.severity_text, ''),
            event_name := nullif(arrow_log_records.event_name, ''),
            body := arrow_log_records.body,
            attributes := list_sort(coalesce(arrow_log_records.attributes, [])),
            dropped_attributes_count := coalesce(arrow_log_records.dropped_attributes_count, 0),
            flags := coalesce(arrow_log_records.flags, 0),
            resource_id := batch_resources.resource_id,
            scope_id := batch_scopes.scope_id
        )::json::varchar
    ) as log_record_id
from arrow_log_records
left join batch_resources using (resource_index)
left join batch_scopes using (scope_index);

create or replace temp table new_log_ids as
select
    min(log_index) as log_index,
    log_record_id
from batch_log_ids
anti join log_records using (log_record_id)
group by log_record_id;

insert into log_records by name
select
    new_log_ids.log_record_id,
    lower(hex(arrow_log_records.trace_id)) as trace_id,
    lower(hex(arrow_log_records.span_id)) as span_id,
    coalesce(arrow_log_records.time_unix_nano, 0) as time_unix_nano,
    coalesce(arrow_log_records.observed_time_unix_nano, 0) as observed_time_unix_nano,
    wire_time(arrow_log_records.time_unix_nano) as time,
    wire_time(arrow_log_records.observed_time_unix_nano) as observed_time,
    coalesce(arrow_log_records.severity_number, 0) as severity_number,
    nullif(arrow_log_records.severity_text, '') as severity_text,
    nullif(arrow_log_records.event_name, '') as event_name,
    variant_value(arrow_log_records.body) as body,
    attribute_map(arrow_log_records.attributes) as attributes,
    coalesce(arrow_log_records.dropped_attributes_count, 0) as dropped_attributes_count,
    coalesce(arrow_log_records.flags, 0) as flags,
    batch_resources.resource_id,
    batch_resources.attributes['service.name']::varchar as service_name,
    batch_scopes.scope_id,
    batch_scopes.name as scope_name,
    batch_scopes.version as scope_version,
    arrow_log_records.problems,
    current_localtimestamp()::timestamp as received_at
from arrow_log_records
join new_log_ids using (log_index)
left join batch_resources using (resource_index)
left join batch_scopes using (scope_index);

-- A judgement of a run changes nothing about the run.
insert into pending_traces (trace_id, waiting_since)
select distinct lower(hex(arrow_log_records.trace_id)) as trace_id, waiting_from()
from arrow_log_records
join new_log_ids using (log_index)
where arrow_log_records.trace_id is not null
    and arrow_log_records.event_name is distinct from 'gen_ai.evaluation.result'
    and lower(hex(arrow_log_records.trace_id)) not in (select trace_id from pending_traces);
