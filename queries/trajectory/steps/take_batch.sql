-- The next pending traces, up to a number of spans, at least one. `group_id` names the run that a trace belongs to when message
-- hops spread one run over several traces; alone, a trace is its own group.
create or replace temp table batch_traces as
with sizes as (
    select trace_id, count(*) as n
    from spans
    where trace_id in (select trace_id from pending_traces)
    group by trace_id
),
ordered as (
    select trace_id, coalesce(sum(n) over (order by trace_id rows between unbounded preceding and 1 preceding), 0) as before
    from (select distinct trace_id from pending_traces) left join sizes using (trace_id)
)
select trace_id, trace_id as group_id
from ordered
where before < $batch_spans;
