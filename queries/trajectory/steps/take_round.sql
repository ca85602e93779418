-- The pending traces of a round with all the traces that they share a run with, dealt into batches of about $batch_spans spans;
-- at most $round_spans in all, but at least one run. `group_id`: the first trace of the run. What has waited longest comes first: in
-- order of their start, old traces that keep growing would be derived again and again, and new ones never. What was loaded at one
-- time goes in order of its start.
with recursive reachable as (
    select trace_id as start_id, trace_id
    from pending_traces
    union
    select reachable.start_id, trace_edges.other_trace_id
    from reachable
    inner join trace_edges using (trace_id)
),
members as (
    select distinct trace_id, min(start_id) over (partition by trace_id) as start_id
    from reachable
),
waiting as (
    select trace_id, min(waiting_since) as waiting_since
    from pending_traces
    group by trace_id
),
sized as (
    select
        members.trace_id,
        members.start_id,
        any_value(waiting.waiting_since) as waiting_since,
        count(spans.span_id) as n,
        min(spans.start_time_unix_nano) as start_ns
    from members
    left join waiting on waiting.trace_id = members.trace_id
    left join spans on spans.trace_id = members.trace_id
    group by members.trace_id, members.start_id
),
groups as (
    select
        start_id,
        arg_min(trace_id, (start_ns, trace_id)) as group_id,
        sum(n) as n,
        min(waiting_since) as waiting_since,
        min(start_ns) as start_ns
    from sized
    group by start_id
),
ordered as (
    select
        *,
        coalesce(
            sum(n) over (
                order by waiting_since, start_ns, start_id rows between unbounded preceding and 1 preceding
            ),
            0
        ) as before
    from groups
)
select sized.trace_id, ordered.group_id, (ordered.before // $batch_spans)::integer as batch
from sized
inner join ordered using (start_id)
where ordered.before < $round_spans;
