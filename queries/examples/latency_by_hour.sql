-- How long do runs take at each hour?
--
-- Hours are UTC; p95 is nearest rank, and with fewer than 20 runs it is the slowest of them.
--
-- Columns: hour; runs [count]; median_s [s]; p95_s [s]; errors [count].
select
    date_trunc('hour', started_at) as hour,
    count(*) as runs,
    round(median(duration_s), 3) as median_s,
    round(quantile_disc(duration_s, 0.95), 3) as p95_s,
    count(*) filter (where status = 'error') as errors
from runs
group by hour
order by hour
