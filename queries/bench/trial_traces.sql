-- What has arrived of each trial: spans in its trace beside that of the harness, and the runs that name the trial, in
-- whatever trace. steps and cost_usd are NULL where there is no run; cost_usd is NULL too where nothing has a price.
with asked as (
    select
        unnest($case_ids::varchar[]) as case_id,
        unnest($trials::integer[]) as trial,
        unnest($trace_ids::varchar[]) as trace_id
),
arrived as (
    select spans.trace_id, count(*) as agent_spans
    from spans
    where spans.trace_id in (select trace_id from asked) and spans.scope_name is distinct from 'spanscore.bench'
    group by spans.trace_id
),
attributed as (
    select
        case_id,
        trial,
        count(*) as runs,
        sum(llm_calls + tool_calls)::bigint as steps,
        sum(cost_usd) as cost_usd
    from runs
    where experiment_id = $experiment_id
    group by case_id, trial
)
select
    asked.case_id,
    asked.trial,
    coalesce(arrived.agent_spans, 0) as agent_spans,
    coalesce(attributed.runs, 0) as runs,
    attributed.steps,
    attributed.cost_usd
from asked
left join arrived using (trace_id)
left join attributed using (case_id, trial)
