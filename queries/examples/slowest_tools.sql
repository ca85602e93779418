-- Which tools are slowest?
--
-- Calls without a duration are left out; p95 is nearest rank, and with fewer than 20 calls it is the slowest of them.
--
-- Columns: tool_name; calls [count]; median_s [s]; p95_s [s]; total_s [s].
select
    tool_name,
    count(*) as calls,
    round(median(duration_s), 4) as median_s,
    round(quantile_disc(duration_s, 0.95), 4) as p95_s,
    round(sum(duration_s), 4) as total_s
from tool_calls
where duration_s is not null and not is_handoff and not is_agent_tool
group by tool_name
order by p95_s desc, tool_name
