-- Claude Code and the Claude Agent SDK keep content in log records: a tool call's arguments in `tool_result` (joined to the
-- tool span by tool_use_id), the prompt in `user_prompt`, the answer in the last `assistant_response` of the interaction.
insert into batch_attributes
with logs as (
    select
        trace_id,
        span_id,
        coalesce(event_name, attribute_text(attributes['event.name'])) as event,
        attributes,
        coalesce(nullif(time_unix_nano, 0), observed_time_unix_nano) as at_ns,
        try_cast(attribute_text(attributes['event.sequence']) as bigint) as sequence
    from raw_logs
    where starts_with(scope_name, 'com.anthropic.claude_code')
),
tool_ids as (
    select batch_spans.s, batch_spans.scope_name, batch_spans.trace_id, batch_attributes.value as tool_use_id
    from batch_attributes
    inner join batch_spans using (s)
    where batch_attributes.key = 'tool_use_id'
)
select
    tool_ids.s,
    tool_ids.scope_name,
    0 as rank,
    'log.tool_result|tool_input' as key,
    attribute_text(logs.attributes['tool_input']) as value
from logs
inner join tool_ids
    on tool_ids.trace_id = logs.trace_id and tool_ids.tool_use_id = attribute_text(logs.attributes['tool_use_id'])
where logs.event in ('tool_result', 'claude_code.tool_result')
union all
select
    batch_spans.s,
    batch_spans.scope_name,
    0,
    'log.assistant_response|response',
    arg_max(attribute_text(logs.attributes['response']), (logs.sequence, logs.at_ns))
from logs
inner join batch_spans using (trace_id, span_id)
where logs.event in ('assistant_response', 'claude_code.assistant_response')
group by batch_spans.s, batch_spans.scope_name
union all
select
    batch_spans.s,
    batch_spans.scope_name,
    0,
    'log.user_prompt|prompt',
    arg_min(attribute_text(logs.attributes['prompt']), (logs.sequence, logs.at_ns))
from logs
inner join batch_spans using (trace_id, span_id)
where logs.event in ('user_prompt', 'claude_code.user_prompt')
group by batch_spans.s, batch_spans.scope_name;
