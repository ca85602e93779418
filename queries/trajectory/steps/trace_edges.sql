-- Traces that belong together. A messaging span that links to another trace carries the run on. Where a program has no span
-- around its LLM calls, every call is a trace of its own: the call that brings the result of a tool continues the call that asked
-- for it. Traces that turn out to belong to a run that this batch did not see whole are put back to be derived with it.
create or replace temp table found_edges as
select distinct span_links.trace_id, span_links.linked_trace_id as other_trace_id, 'message_hop' as reason
from span_links
inner join spans using (trace_id, span_id)
where span_links.trace_id in (select trace_id from batch_traces)
    and span_links.linked_trace_id <> span_links.trace_id
    and (map_contains(spans.attributes, 'messaging.operation') or map_contains(spans.attributes, 'messaging.operation.type')
        or map_contains(spans.attributes, 'messaging.system'));

delete from open_conversations where trace_id in (select trace_id from batch_traces);

insert into open_conversations
with bare as (
    select batch_spans.trace_id
    from batch_spans
    inner join span_class using (s)
    group by batch_spans.trace_id
    having bool_or(span_class.class = 'llm') and bool_and(span_class.class in ('llm', 'other'))
),
calls as (
    select
        batch_spans.trace_id,
        batch_spans.resource_id,
        batch_spans.start_ns,
        message_parts.direction,
        message_parts.part_type,
        message_parts.tool_call_id || ' ' || message_parts.tool_name || ' ' || md5(coalesce(message_parts.arguments, '')) as call,
        span_texts.text as question,
        message_parts.position
            > max(message_parts.position) filter (where message_parts.role = 'user' and message_parts.part_type = 'text'
                and message_parts.direction = 'input') over (partition by batch_spans.s) as is_after_question
    from message_parts
    inner join batch_spans using (s)
    inner join span_class using (s)
    left join span_texts on span_texts.s = batch_spans.s and span_texts.direction = 'input'
    where batch_spans.trace_id in (select trace_id from bare) and span_class.class = 'llm'
)
select
    trace_id,
    any_value(resource_id),
    min(start_ns),
    md5(arg_min(question, start_ns)),
    list(distinct call) filter (where direction = 'output' and part_type = 'tool_call' and call is not null),
    list(distinct call) filter (where direction = 'input' and part_type = 'tool_call' and is_after_question and call is not null)
from calls
group by trace_id;

insert into found_edges
select later.trace_id, arg_max(earlier.trace_id, (earlier.start_ns, earlier.trace_id)), 'tool_result'
from open_conversations as later
inner join open_conversations as earlier
    on earlier.resource_id = later.resource_id
    and earlier.trace_id <> later.trace_id
    and earlier.question_hash = later.question_hash
    and earlier.start_ns <= later.start_ns
    and earlier.start_ns + 600000000000 > later.start_ns
    and list_has_any(earlier.asked, later.answered)
where not list_has_any(coalesce(later.asked, []), later.answered)
    and (later.trace_id in (select trace_id from batch_traces) or earlier.trace_id in (select trace_id from batch_traces))
group by later.trace_id;

create or replace temp table new_edges as
select trace_id, other_trace_id, reason from found_edges
union
select other_trace_id, trace_id, reason from found_edges
except
select trace_id, other_trace_id, reason from trace_edges;

insert into trace_edges select * from new_edges;

-- Put back: both ends of every new edge that joins what this batch took for separate runs.
create or replace temp table reopened_traces as
select distinct new_edges.trace_id
from new_edges
left join batch_traces as own on own.trace_id = new_edges.trace_id
left join batch_traces as other on other.trace_id = new_edges.other_trace_id
where own.group_id is distinct from other.group_id
    and new_edges.trace_id in (select trace_id from spans);
