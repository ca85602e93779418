-- The last exception that a span recorded, as a span event or as a log record that names the span. Control flow that
-- frameworks signal by raising (a graph's jump to another node, an interrupt that asks a person, a cancelled task) is told
-- apart from errors by `is_control_flow`.
create or replace temp table span_exceptions as
with recorded as (
    select
        batch_spans.s,
        span_events.time_unix_nano as at_ns,
        attribute_text(span_events.attributes['exception.type']) as type,
        attribute_text(span_events.attributes['exception.message']) as message
    from raw_events as span_events
    inner join batch_spans using (trace_id, span_id)
    where span_events.name = 'exception' or span_events.name like '%.exception'
    union all
    select
        batch_spans.s,
        coalesce(log_records.time_unix_nano, log_records.observed_time_unix_nano),
        attribute_text(log_records.attributes['exception.type']),
        attribute_text(log_records.attributes['exception.message'])
    from raw_logs as log_records
    inner join batch_spans using (trace_id, span_id)
    where coalesce(log_records.event_name, attribute_text(log_records.attributes['event.name'])) like '%exception'
)
select
    s,
    arg_max(type, at_ns) as exception_type,
    arg_max(message, at_ns) as exception_message
from recorded
group by s;
