-- How many tokens and how much money went into runs that failed?
--
-- By service. A run that is still running counts as neither.
--
-- Columns: service_name; failed_runs [count]; runs [count]; failed_tokens [tokens]; tokens [tokens]; failed_cost_usd [USD];
-- share_of_tokens (0 to 1).
with used as (
    select service_name, status, input_tokens + output_tokens as run_tokens, cost_usd
    from runs
    where status not in ('running', 'incomplete')
)
select
    service_name,
    count(*) filter (where status in ('error', 'truncated', 'cancelled')) as failed_runs,
    count(*) as runs,
    sum(run_tokens) filter (where status in ('error', 'truncated', 'cancelled'))::bigint as failed_tokens,
    sum(run_tokens)::bigint as tokens,
    sum(cost_usd) filter (where status in ('error', 'truncated', 'cancelled')) as failed_cost_usd,
    safe_ratio(failed_tokens, sum(run_tokens)) as share_of_tokens
from used
group by service_name
order by failed_tokens desc nulls last, service_name
