-- One row per run: identity from its top spans, counts and sums from the rows of its calls.
create or replace temp table run_spans as
select
    span_runs.run_id,
    batch_spans.s,
    batch_spans.trace_id,
    batch_spans.span_id,
    batch_spans.parent,
    batch_spans.parent_span_id,
    batch_spans.name,
    batch_spans.flags,
    batch_spans.start_ns,
    batch_spans.end_ns,
    batch_spans.start_time,
    batch_spans.end_time,
    batch_spans.status_code,
    batch_spans.status_message,
    batch_spans.service_name,
    batch_spans.dropped_attributes_count,
    span_class.class,
    span_class.convention,
    span_tree.depth,
    span_tree.top = batch_spans.s as is_top,
    -- A span whose parent lives in another process is where a trace enters this service, not an orphan.
    batch_spans.parent_span_id is not null and batch_spans.parent is null
        and (coalesce(batch_spans.flags, 0) & 768) <> 768 as is_orphan
from span_runs
inner join batch_spans using (s)
inner join span_class using (s)
inner join span_tree using (s);

create or replace temp table run_identity as
select
    run_spans.run_id,
    arg_min(run_spans.trace_id, run_spans.s) as trace_id,
    min(run_spans.start_time) as started_at,
    max(run_spans.end_time) as ended_at,
    case when bool_and(run_spans.end_ns >= run_spans.start_ns) then (max(run_spans.end_ns) - min(run_spans.start_ns)) / 1e9 end
        as duration_s,
    count(*) as spans,
    md5(string_agg(run_spans.trace_id || run_spans.span_id, ',' order by run_spans.s)) as span_fingerprint,
    count(*) filter (where run_spans.is_orphan) as orphan_spans,
    bool_or(run_spans.end_ns = 0) or bool_or(span_facts.logfire_span_type = 'pending_span') as is_running,
    arg_min(run_spans.service_name, run_spans.s) as service_name,
    list(distinct run_spans.convention order by run_spans.convention) filter (where run_spans.convention is not null)
        as conventions,
    arg_min(span_facts.session_id, (run_spans.depth, run_spans.s)) as session_id,
    arg_min(span_facts.conversation_id, (run_spans.depth, run_spans.s)) as conversation_id,
    arg_min(span_facts.user_id, (run_spans.depth, run_spans.s)) as user_id,
    arg_min(span_facts.experiment_id, (run_spans.depth, run_spans.s)) as experiment_id,
    arg_min(span_facts.suite_name, (run_spans.depth, run_spans.s)) as suite_name,
    arg_min(span_facts.suite_version, (run_spans.depth, run_spans.s)) as suite_version,
    arg_min(span_facts.case_id, (run_spans.depth, run_spans.s)) as case_id,
    arg_min(try_cast(span_facts.trial as integer), (run_spans.depth, run_spans.s)) as trial,
    arg_min(span_facts.variant, (run_spans.depth, run_spans.s)) as variant,
    arg_min(coalesce(span_facts.workflow_name, run_spans.name), (run_spans.depth, run_spans.s)) as name,
    arg_min(span_facts.trace_input, run_spans.s) as trace_input,
    arg_min(span_facts.trace_output, run_spans.s) as trace_output
from run_spans
inner join span_facts using (s)
group by run_spans.run_id;

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
    inner join span_texts on span_texts.s in (batch_llm_calls.s, batch_llm_calls.wrapper)
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
        -coalesce(agent_depth.depth, 0) as level, run_spans.end_ns as at_ns
    from run_spans
    inner join span_texts using (s)
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
    inner join span_texts on span_texts.s in (batch_llm_calls.s, batch_llm_calls.wrapper)
    left join agent_rows on agent_rows.a = batch_llm_calls.a
    where span_texts.direction = 'output' and not span_texts.has_tool_call and agent_rows.caller_tool is null
        and agent_rows.parent_a is null
)
select
    run_id,
    arg_max(text, (rank, level, at_ns)) as final_answer,
    arg_max(origin, (rank, level, at_ns)) as final_answer_source
from said
group by run_id;
