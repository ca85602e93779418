-- The question and the answer of each run.

-- The texts of an LLM call: its own span's, or those of the span around it.
create or replace temp view call_texts as
select s as call_s, span_texts.*
from span_texts
semi join batch_llm_calls using (s)
union all
select batch_llm_calls.s, span_texts.*
from batch_llm_calls
inner join span_texts on span_texts.s = batch_llm_calls.wrapper
where batch_llm_calls.s not in (select s from span_texts as own where own.direction = span_texts.direction);

-- The question: what a top span was asked when its input ends with it, else the last user text of the first LLM call.
create or replace temp table run_questions as
with asked as (
    select run_spans.run_id, span_texts.text, 1 as rank, run_spans.depth as first_order, run_spans.s as second_order
    from run_spans
    inner join span_texts using (s)
    where span_texts.direction = 'input' and span_texts.is_last
        and (run_spans.class in ('workflow', 'agent') or run_spans.parent is null)
        and run_spans.class <> 'llm'
        and run_spans.s not in (select s from agent_rows where caller_tool is not null or parent_a is not null)
    union all
    select batch_llm_calls.run_id, span_texts.text, 2, batch_llm_calls.start_ns, batch_llm_calls.s
    from batch_llm_calls
    inner join call_texts as span_texts on span_texts.call_s = batch_llm_calls.s
    where span_texts.direction = 'input'
    union all
    select run_id, coalesce(plain_answer(as_json(trace_input)), trace_input), 3, 0, 0
    from run_identity
    where trace_input is not null
)
select run_id, arg_min(text, (rank, first_order, second_order)) as question
from asked
group by run_id;

-- The answer: what the topmost span that says something answered; of several on one level the last to end. Else the last LLM
-- call, outside agents that were called as tools, that answered in text and asked for no tool.
create or replace temp table run_answers as
with said as (
    select
        run_spans.run_id, span_texts.text, 'span' as origin, 1 as rank,
        -- What a harness took for the answer (the output of a command) says less than the agent's own span.
        case when span_facts.trial_outcome is null then -coalesce(agent_depth.depth, 0) else -2 end as level, run_spans.end_ns as at_ns
    from run_spans
    inner join span_texts using (s)
    inner join span_facts using (s)
    left join (
        select agent_rows.s, 1 + (agent_rows.caller_tool is not null or agent_rows.parent_a is not null)::integer as depth
        from agent_rows
    ) as agent_depth using (s)
    where span_texts.direction = 'output' and span_texts.is_last and not span_texts.has_tool_call
        and run_spans.class not in ('llm', 'tool')
        and run_spans.s not in (select s from agent_rows where caller_tool is not null or parent_a is not null)
    union all
    select batch_llm_calls.run_id, span_texts.text, 'last_llm_call', 0, 0, batch_spans.end_ns
    from batch_llm_calls
    inner join batch_spans using (s)
    inner join call_texts as span_texts on span_texts.call_s = batch_llm_calls.s
    left join agent_rows on agent_rows.a = batch_llm_calls.a
    where span_texts.direction = 'output' and not span_texts.has_tool_call and agent_rows.caller_tool is null
        and agent_rows.parent_a is null
    union all
    -- An answer given through a tool that is made for it.
    select
        run_spans.run_id,
        coalesce(as_json(unwrapped_arguments(span_facts.tool_arguments)) ->> '$.answer', unwrapped_result(span_facts.tool_result)),
        'answer_tool', 0, 0, run_spans.end_ns
    from run_spans
    inner join span_facts using (s)
    inner join span_tree using (s)
    left join agent_rows on agent_rows.a = span_tree.agent
    where span_facts.tool_name in ('final_answer', 'final_result') and agent_rows.caller_tool is null
        and agent_rows.parent_a is null and coalesce(span_facts.tool_arguments, span_facts.tool_result) is not null
)
select
    run_id,
    arg_max(text, (rank, level, at_ns)) as final_answer,
    arg_max(origin, (rank, level, at_ns)) as final_answer_source
from said
group by run_id;
