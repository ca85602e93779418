-- Which run each span belongs to. A run is a trace (or traces joined by message hops), unless the trace holds several
-- top-level agents that are clearly different attempts: they carry different case, trial or conversation ids, or they run at
-- the same time under a span that is no agent. Then every top-level agent is a run of its own. The trial of a benchmark is
-- always one run.
-- Traces in which nothing of an agent happens (an agent was built, a web request) have no run.
create or replace temp table span_runs as
with tops as (
    select
        batch_spans.group_id,
        batch_spans.s,
        batch_spans.span_id,
        batch_spans.start_ns,
        batch_spans.end_ns,
        span_class.class,
        coalesce(span_facts.case_id, '') || '#' || coalesce(span_facts.trial, '') as attempt,
        coalesce(span_facts.session_id, span_facts.conversation_id) as conversation
    from span_tree
    inner join batch_spans using (s)
    inner join span_class using (s)
    inner join span_facts using (s)
    where span_tree.top = span_tree.s and not span_tree.is_judged
),
whole as (
    select group_id
    from batch_traces
    group by group_id
    having count(*) > 1
    union
    select batch_spans.group_id
    from batch_spans
    inner join span_facts using (s)
    where span_facts.trial_outcome is not null
),
split as (
    select group_id
    from tops
    where class in ('agent', 'workflow') and group_id not in (select group_id from whole)
    group by group_id
    having count(*) > 1 and (
        count(distinct attempt) > 1
        or count(distinct conversation) > 1
    )
    union
    select later.group_id
    from tops as later
    inner join tops as earlier
        on earlier.group_id = later.group_id
        and earlier.s < later.s
        and later.start_ns < earlier.end_ns
        and later.class = 'agent' and earlier.class = 'agent'
        and earlier.conversation is null and later.conversation is null
    where later.group_id not in (select group_id from whole)
),
assigned as (
    select
        tops.group_id,
        tops.s as top,
        case
            when tops.group_id not in (select group_id from split) then tops.group_id
            when tops.class in ('agent', 'workflow') then tops.group_id || ':' || tops.span_id
            else tops.group_id || ':' || (
                select coalesce(arg_max(owner.span_id, owner.start_ns) filter (where owner.start_ns <= tops.start_ns),
                    arg_min(owner.span_id, owner.start_ns))
                from tops as owner
                where owner.group_id = tops.group_id and owner.class in ('agent', 'workflow')
            )
        end as run_id
    from tops
)
select span_tree.s, assigned.run_id
from span_tree
inner join assigned on assigned.top = span_tree.top
where not span_tree.is_judged
union all
-- Spans above or beside the agents (the web request, the test harness) belong to the run when the trace has just one.
select span_tree.s, single.run_id
from span_tree
inner join batch_spans using (s)
inner join (
    select group_id, min(run_id) as run_id
    from assigned
    group by group_id
    having count(distinct run_id) = 1
) as single using (group_id)
where span_tree.top is null and not span_tree.is_judged;

-- The trace that a run's rows are replaced by: its first.
create or replace temp table run_traces as
select span_runs.run_id, arg_min(batch_spans.trace_id, batch_spans.s) as trace_id
from span_runs
inner join batch_spans using (s)
group by span_runs.run_id;
