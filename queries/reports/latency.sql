-- How long runs take [s]. The median is interpolated; p95 and p99 are nearest rank (index ceil(p n)), so with few runs they
-- are the slowest one.
select
    count(duration_s) as n,
    quantile_cont(duration_s, 0.5) as median_s,
    quantile_disc(duration_s, 0.95) as p95_s,
    quantile_disc(duration_s, 0.99) as p99_s,
    max(duration_s) as max_s,
    avg(duration_s) as mean_s
from runs
