-- Per agent: how often it was called, how often it failed, what it used itself (what an agent that it called used stands in
-- that agent's row). `median_s` is the interpolated median, `p95_s` the nearest-rank percentile: with fewer than 20 invocations
-- it is the slowest one.
select
    agent_name,
    count(*) as invocations,
    count(distinct run_id) as runs,
    count(*) filter (where status = 'error') as errors,
    sum(llm_calls)::bigint as llm_calls,
    sum(tool_calls)::bigint as tool_calls,
    sum(input_tokens)::bigint as input_tokens,
    sum(output_tokens)::bigint as output_tokens,
    list_sum(list_sort(list(cost_usd))) as cost_usd,
    quantile_cont(duration_s, 0.5) as median_s,
    quantile_disc(duration_s, 0.95) as p95_s
from agent_invocations
group by agent_name
order by invocations desc, agent_name nulls last
