-- Runs that any row of the trajectory gives to a trace that goes or shares a run with one. The query in the place of `$runs` gives
-- trace_id and run_id of all rows. The id of a run begins with that of a trace: a score may be of a run that is no more.
create or replace temp table touched_runs as
with named as (
    select distinct run_id
    from (
        from ($runs)
        union all
        select split_part(run_id, ':', 1) as trace_id, run_id
        from scores
    ) as rows_of_runs
    where trace_id in (select trace_id from purged_traces)
        or trace_id in (select trace_id from shared_traces)
)
select named.run_id, runs.session_id
from named
left join runs using (run_id)
where named.run_id is not null
