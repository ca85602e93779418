-- The parts of messages that ask for tools and bring their results, each with the LLM call that it belongs to.
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

-- Results that say neither which call nor which tool they belong to stand in the order of the calls.
update run_parts
set tool_call_id = ordered.tool_call_id
from (
    select results.s, results.position, results.part_index, calls.tool_call_id
    from (
        select *, row_number() over (partition by s order by position, part_index) as nth
        from run_parts
        where direction = 'input' and part_type = 'tool_call_response'
    ) as results
    inner join (
        select *, row_number() over (partition by s order by position, part_index) as nth
        from run_parts
        where direction = 'input' and part_type = 'tool_call'
    ) as calls on calls.s = results.s and calls.nth = results.nth
    where results.tool_call_id is null and results.tool_name is null
) as ordered
where ordered.s = run_parts.s and ordered.position = run_parts.position and ordered.part_index = run_parts.part_index
    and run_parts.part_type = 'tool_call_response' and run_parts.direction = 'input';

create or replace temp table first_calls as
select run_id, arg_min(s, (start_ns, s)) as s
from batch_llm_calls
where not is_transcript
group by run_id;

create or replace temp table run_history as
select distinct run_parts.run_id, run_parts.tool_call_id
from run_parts
inner join first_calls using (run_id, s)
where run_parts.direction = 'input' and run_parts.tool_call_id is not null;
