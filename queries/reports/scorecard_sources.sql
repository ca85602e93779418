-- How many runs come from where, so that they are never mixed in one figure.
select source, count(*) as runs
from runs
group by source
order by source
