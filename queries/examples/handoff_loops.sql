-- Where do agents hand work back and forth?
--
-- Pairs of agents that handed over to each other in one run, in both directions. A bounce is a receiver that handed back
-- without doing work.
--
-- Columns: run_id; agent; other_agent; handoffs [count, both directions]; bounces [count].
select
    run_id,
    least(from_agent, to_agent) as agent,
    greatest(from_agent, to_agent) as other_agent,
    count(*) as handoffs,
    count(*) filter (where is_bounce) as bounces
from handoffs
group by all
having count(distinct from_agent) > 1
order by handoffs desc, run_id, agent, other_agent
