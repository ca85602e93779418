-- Messages that came one to a span event or log record: gen_ai.user.message, gen_ai.choice and their kin. Where an emitter
-- writes the same messages as attributes too, the attributes are read and these are left alone.
create or replace temp table event_messages as
with recorded as (
    select
        batch_spans.s,
        span_events.name,
        span_events.time_unix_nano as at_ns,
        span_events.event_index as position,
        '' as tie,
        json_object(
            'role', attribute_text(span_events.attributes['role']),
            'content', coalesce(
                attribute_text(span_events.attributes['content']),
                attribute_text(span_events.attributes['message']),
                attribute_text(span_events.attributes['gen_ai.event.content'])
            ),
            'id', attribute_text(span_events.attributes['id']),
            'finish_reason', attribute_text(span_events.attributes['finish_reason'])
        ) as body
    from raw_events as span_events
    inner join batch_spans using (trace_id, span_id)
    where span_events.name in ('gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message',
        'gen_ai.tool.message', 'gen_ai.choice')
    union all
    select
        batch_spans.s,
        coalesce(log_records.event_name, attribute_text(log_records.attributes['event.name'])) as name,
        coalesce(nullif(log_records.time_unix_nano, 0), log_records.observed_time_unix_nano),
        0,
        log_records.log_record_id,
        case when variant_typeof(log_records.body) like 'OBJECT%' then log_records.body::json end
    from raw_logs as log_records
    inner join batch_spans using (trace_id, span_id)
    where coalesce(log_records.event_name, attribute_text(log_records.attributes['event.name'])) in ('gen_ai.system.message',
        'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message', 'gen_ai.choice')
)
select
    s,
    case name when 'gen_ai.choice' then 'output' when 'gen_ai.system.message' then 'system' else 'input' end as direction,
    -- Choices of one index are the pieces of one streamed message.
    case
        when name = 'gen_ai.choice' then coalesce(try_cast(body ->> '$.index' as integer), 0) + 1
        else row_number() over (partition by s, name = 'gen_ai.choice' order by at_ns, position, tie)
    end::integer as position,
    case
        when name = 'gen_ai.choice' then row_number() over (partition by s, name = 'gen_ai.choice' order by at_ns, position, tie)
        else 0
    end::integer as piece,
    case
        when name = 'gen_ai.choice' and json_type(body, '$.message') = 'OBJECT' then body -> '$.message'
        else body
    end as message,
    coalesce(
        message_role(message_fields(body)),
        case name
            when 'gen_ai.system.message' then 'system'
            when 'gen_ai.user.message' then 'user'
            when 'gen_ai.tool.message' then 'tool'
            else 'assistant'
        end
    ) as role,
    body ->> '$.id' as tool_call_id,
    body ->> '$.finish_reason' as finish_reason
from recorded
where body is not null;
