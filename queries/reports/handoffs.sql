-- Who handed over to whom: how often, how many arrived, how many came straight back.
select
    from_agent,
    to_agent,
    count(*) as handoffs,
    count(*) filter (where succeeded) as succeeded,
    count(*) filter (where is_back) as back,
    count(*) filter (where is_bounce) as bounced,
    count(distinct run_id) as runs
from handoffs
group by from_agent, to_agent
order by handoffs desc, from_agent nulls last, to_agent nulls last
