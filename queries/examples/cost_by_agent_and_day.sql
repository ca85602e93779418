-- What does each agent cost per day?
--
-- Days are UTC. A call without a known price counts in `unpriced_calls`, not as 0.
--
-- Columns: day; agent_name (NULL: outside of any agent); llm_calls [count]; cost_usd [USD]; unpriced_calls [count].
select
    started_at::date as day,
    agent_name,
    count(*) as llm_calls,
    sum(cost_usd) as cost_usd,
    count(*) filter (where cost_usd is null) as unpriced_calls
from llm_calls
group by all
order by day, cost_usd desc nulls last, agent_name
