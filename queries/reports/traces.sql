-- The list of runs: one row per run that passes the filters. A filter that is NULL passes everything.
-- `cost_usd` is the sum over priced calls only; `unpriced_llm_calls` says how many are missing from it, so both are shown together.
-- Runs of one instant are ordered by id, so that two listings of an unchanged store are the same.
select
    runs.run_id,
    runs.trace_id,
    runs.started_at,
    runs.name,
    runs.entry_agent,
    runs.service_name,
    runs.source,
    runs.session_id,
    runs.case_id,
    runs.experiment_id,
    runs.status,
    runs.error_type,
    runs.llm_calls,
    runs.tool_calls,
    runs.tool_errors,
    runs.agent_invocations,
    runs.handoffs,
    runs.input_tokens,
    runs.output_tokens,
    runs.cost_usd,
    runs.unpriced_llm_calls,
    runs.duration_s,
    runs.question,
    runs.final_answer
from runs
where
    ($since::timestamp is null or runs.started_at >= $since::timestamp)
    and ($status::varchar is null or runs.status = $status)
    and ($service::varchar is null or runs.service_name = $service)
    and ($source::varchar is null or runs.source = $source)
    and ($min_cost::double is null or runs.cost_usd >= $min_cost)
    and ($contains::varchar is null or contains(lower(runs.question), lower($contains)))
    and (
        $agent::varchar is null
        or exists (
            from agent_invocations
            where agent_invocations.run_id = runs.run_id and agent_invocations.agent_name = $agent
        )
    )
order by
    case $sort when 'cost' then runs.cost_usd end desc nulls last,
    case $sort when 'duration' then runs.duration_s end desc nulls last,
    case $sort when 'tokens' then coalesce(runs.input_tokens, 0) + coalesce(runs.output_tokens, 0) end desc nulls last,
    case $sort when 'errors' then runs.tool_errors end desc nulls last,
    case $sort when 'oldest' then runs.started_at end asc nulls last,
    runs.started_at desc nulls last,
    runs.run_id
limit $limit
