-- Traces that belong together. A messaging span that links to another trace carries the run on. Where a program has no span
-- around its LLM calls, every call is a trace of its own: the call that brings the result of a tool continues the call that asked
-- for it. Traces that turn out to belong to a run that this round did not see whole are put back to be derived with it.
create or replace temp table round_links as
select distinct trace_id, span_id, linked_trace_id
from span_links
where trace_id in (select trace_id from round_traces) and linked_trace_id <> trace_id;

-- The spans are found by one column, then read by row: few have links to other traces, and attributes are wide.
create or replace temp table linking_spans as
select spans.trace_id, spans.span_id, map_keys(spans.attributes) as keys
from spans
inner join (select rowid as place from spans where span_id in (select span_id from round_links)) as found
    on found.place = spans.rowid;

create or replace temp table found_edges as
select distinct round_links.trace_id, round_links.linked_trace_id as other_trace_id, 'message_hop' as reason
from round_links
inner join linking_spans using (trace_id, span_id)
where list_has_any(linking_spans.keys, ['messaging.operation', 'messaging.operation.type', 'messaging.system']);

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
    and (later.trace_id in (select trace_id from round_traces) or earlier.trace_id in (select trace_id from round_traces))
group by later.trace_id;

-- A second instrumentation of the client that lost the context writes the same call as a trace of its own, within the time of the
-- first one's. Calls of the same id are looked for an hour around this round's: no call takes longer.
create or replace temp table alike_calls as
with round_calls as (
    select response_id, started_at
    from llm_calls
    where trace_id in (select trace_id from round_traces) and response_id is not null
)
select
    trace_id,
    run_id,
    response_id,
    trace_id in (select trace_id from round_traces) as is_of_round,
    epoch_ns(started_at) as start_ns,
    epoch_ns(started_at) + (duration_s * 1e9)::bigint as end_ns,
    epoch_ns(started_at) // 60000000000 as minute
from llm_calls
where started_at >= (select min(started_at) from round_calls) - interval 1 hour
    and started_at <= (select max(started_at) from round_calls) + interval 1 hour
    and response_id in (select response_id from round_calls);

-- An id that many traces of one minute give, as the constant of a mock model server, says nothing: by it all would be one run.
delete from alike_calls
where (response_id, minute) in (
    select (response_id, minute) from alike_calls group by response_id, minute having count(distinct trace_id) > 50
);

insert into found_edges
select distinct inner_call.trace_id, outer_call.trace_id, 'same_call'
from alike_calls as inner_call
inner join (
    -- An inner call begins in the hour in which the outer one does, or in the next.
    select *, unnest([minute // 60, minute // 60 + 1]) as hour
    from alike_calls
) as outer_call
    on outer_call.response_id = inner_call.response_id
    and outer_call.hour = inner_call.minute // 60
    and outer_call.trace_id <> inner_call.trace_id
    and outer_call.start_ns <= inner_call.start_ns
    and outer_call.end_ns >= inner_call.end_ns
where inner_call.run_id in (select run_id from runs where agent_invocations = 0)
    and (inner_call.is_of_round or outer_call.is_of_round);

create or replace temp table new_edges as
select trace_id, other_trace_id, reason from found_edges
union
select other_trace_id, trace_id, reason from found_edges
except
select trace_id, other_trace_id, reason from trace_edges;

insert into trace_edges select * from new_edges;

-- Put back: both ends of every new edge that joins what this round took for separate runs. They wait since they did before. A search
-- for some traces in the spans of the store has to be a condition by itself: as a part of one, DuckDB would make a hash table of all
-- the traces there are.
create or replace temp table reopened_traces as
with separate as (
    select distinct new_edges.trace_id
    from new_edges
    left join round_traces as own on own.trace_id = new_edges.trace_id
    left join round_traces as other on other.trace_id = new_edges.other_trace_id
    where own.group_id is distinct from other.group_id
),
known as (
    select trace_id from spans where trace_id in (select trace_id from separate)
    union
    select trace_id from archived_traces where trace_id in (select trace_id from separate)
),
waiting as (
    select trace_id, min(waiting_since) as waiting_since
    from pending_traces
    where trace_id in (select trace_id from separate)
    group by trace_id
)
select known.trace_id, coalesce(waiting.waiting_since, current_localtimestamp()::timestamp) as waiting_since
from known
left join waiting using (trace_id);
