-- The runs whose run id or trace id begins with `$prefix`; an id given in full comes alone.
with matching as (
    select
        run_id,
        trace_id,
        started_at,
        name,
        entry_agent,
        status,
        question,
        run_id = $prefix or trace_id = $prefix as is_exact
    from runs
    where starts_with(run_id, $prefix) or starts_with(trace_id, $prefix)
)
select
    run_id,
    trace_id,
    started_at,
    name,
    entry_agent,
    status,
    question
from matching
where is_exact or not exists (from matching where is_exact)
order by started_at nulls last, run_id
limit $limit
