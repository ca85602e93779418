-- Per tool: how often it ran, how often it failed. Transfer tools are handoffs and agents called as tools are agents:
-- neither is here, and neither are calls that a model asked for and nothing ran (those are in `tool_requests`).
select
    tool_name,
    count(*) as tool_calls,
    count(*) filter (where status = 'error') as errors,
    count(distinct run_id) as runs,
    quantile_cont(duration_s, 0.5) as median_s,
    quantile_disc(duration_s, 0.95) as p95_s
from tool_calls
where not is_handoff and not is_agent_tool
group by tool_name
order by tool_calls desc, tool_name nulls last
