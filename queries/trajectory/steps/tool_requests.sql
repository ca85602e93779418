-- What the models asked for and what came back, read from messages: a request per call id (or, where an emitter gives no ids,
-- per position), and the first result that a later message brings for it.
-- The history that a run starts with is not its own work: call ids that already stand in the input of its first LLM call belong
-- to earlier runs of the session.
create or replace temp table run_parts as
select
    batch_llm_calls.run_id,
    batch_llm_calls.s,
    batch_llm_calls.a,
    batch_llm_calls.start_ns,
    message_parts.* exclude (s) replace (
        case when message_parts.part_type = 'tool_call' then 'output' else 'input' end as direction
    )
from transcript_calls
inner join batch_llm_calls using (s)
inner join message_parts on message_parts.s = transcript_calls.span_s and message_parts.direction = 'output'
    and (message_parts.part_type = 'tool_call' and message_parts.position = transcript_calls.position
        or message_parts.part_type = 'tool_call_response' and message_parts.position > transcript_calls.position
        and message_parts.position < coalesce((
            select min(later.position) from transcript_calls as later
            where later.span_s = transcript_calls.span_s and later.position > transcript_calls.position
        ), 10000))
union all by name
select
    batch_llm_calls.run_id,
    batch_llm_calls.s,
    batch_llm_calls.a,
    batch_llm_calls.start_ns,
    message_parts.* exclude (s)
from batch_llm_calls
inner join message_parts on message_parts.s = coalesce(
    case when exists (select 1 from message_parts as inner_parts where inner_parts.s = batch_llm_calls.s)
        then batch_llm_calls.s end,
    batch_llm_calls.wrapper)
where message_parts.part_type in ('tool_call', 'tool_call_response');

create or replace temp table run_history as
select distinct run_parts.run_id, run_parts.tool_call_id
from run_parts
inner join (
    select run_id, arg_min(s, (start_ns, s)) as s
    from batch_llm_calls
    where not is_transcript
    group by run_id
) as first_call using (run_id, s)
where run_parts.direction = 'input' and run_parts.tool_call_id is not null;

create or replace temp table tool_requests_found as
with asked as (
    select
        run_id, s, a, start_ns, tool_call_id, tool_name, arguments,
        direction = 'output' as is_output,
        position, part_index
    from run_parts
    where part_type = 'tool_call'
        and tool_name is not null
        and not regexp_matches(tool_name, '(?i)^transfer_back_to_')
        and tool_name not in ('final_answer', 'final_result')
        and (direction = 'output' or (tool_call_id is not null and role = 'assistant'))
        and (direction = 'output' or (run_id, tool_call_id) not in (select (run_id, tool_call_id) from run_history))
),
keyed as (
    select
        *,
        coalesce(tool_call_id, s || ':' || position || ':' || part_index) as request_key
    from asked
),
first_asked as (
    select
        run_id,
        request_key,
        any_value(tool_call_id) as tool_call_id,
        arg_min(s, (not is_output, start_ns, s)) as seen_in,
        bool_or(is_output) as is_output,
        arg_min(a, (not is_output, start_ns, s)) as a,
        arg_min(tool_name, (not is_output, start_ns, s)) as tool_name,
        arg_min(arguments, (not is_output, start_ns, s)) as arguments,
        min(start_ns) as start_ns,
        arg_min((position, part_index), (not is_output, start_ns, s)) as place
    from keyed
    group by run_id, request_key
),
answered as (
    select
        run_id,
        tool_call_id,
        arg_min(response, (start_ns, s, position)) as response,
        arg_min(is_error, (start_ns, s, position)) as is_error,
        min(start_ns) as answered_ns
    from run_parts
    where part_type = 'tool_call_response' and tool_call_id is not null
        and (run_id, tool_call_id) not in (select (run_id, tool_call_id) from run_history)
    group by run_id, tool_call_id
)
select
    first_asked.* exclude (seen_in),
    -- A request that only a later input shows was made by the LLM call before that one.
    case
        when first_asked.is_output then seen_in
        else (
            select arg_max(earlier.s, (earlier.start_ns, earlier.s))
            from batch_llm_calls as earlier
            where earlier.run_id = first_asked.run_id and earlier.start_ns < first_asked.start_ns
                and earlier.a is not distinct from first_asked.a
        )
    end as llm_s,
    answered.response,
    answered.is_error,
    answered.answered_ns
from first_asked
left join answered using (run_id, tool_call_id);
