-- /// evaluator
-- id = "time_to_first_chunk"
-- title = "Time until an LLM call's answer began to come, mean over the calls of the run"
-- grain = "run"
-- unit = "s"
-- better = "lower"
-- ///
--
-- Mean over the LLM calls that report it: streamed ones. A run of several calls makes its user wait for all but the last in full:
-- see `run_duration` for that. NULL: no LLM call, or none that reports it.
with timed as (
    select run_id, count(*) as calls, count(time_to_first_chunk_s) as n, avg(time_to_first_chunk_s) as mean_s,
        max(time_to_first_chunk_s) as max_s,
        count(*) filter (where status is distinct from 'error') as worked,
        count(*) filter (where list_contains(unusable_columns, 'time_to_first_chunk_s')) as unusable
    from llm_calls
    group by run_id
)
select
    runs.run_id,
    timed.mean_s as score_value,
    case
        when timed.run_id is null then 'no_llm_calls'
        when timed.mean_s is not null then null
        when timed.unusable > 0 then 'unusable_time'
        when timed.worked = 0 then 'all_llm_calls_failed'
        else 'no_time_to_first_chunk'
    end as not_applicable_reason,
    case when timed.mean_s is not null
        then format('{} of {} report it; the longest took {:.3f} s.', timed.n, things(timed.calls, 'LLM call'), timed.max_s) end
        as explanation
from runs
left join timed using (run_id);
