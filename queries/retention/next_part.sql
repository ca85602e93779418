-- The next part: traces of the oldest day, about `$part_spans` spans in all, at least one trace.
create or replace temp table moving_traces as
with oldest as (
    select *
    from old_traces
    where day = (select min(day) from old_traces)
),
ordered as (
    select
        *,
        coalesce(
            sum(spans + log_records) over (order by trace_id rows between unbounded preceding and 1 preceding),
            0
        ) as before
    from oldest
)
select ordered.* exclude (before)
from ordered
where before < $part_spans
