-- /// evaluator
-- id = "truncated_responses"
-- title = "LLM calls whose answer was cut off at the token limit"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts finish reason `length`, whatever the provider calls it. An answer that a filter stopped is not cut off.
-- NULL: no LLM call, or none that says why it finished. Calls that do not say count as not cut off where others do.
with calls as (
    select
        run_id,
        count(*) as n,
        count(finish_reason) as told,
        count(*) filter (where status is distinct from 'error') as worked,
        count(*) filter (where finish_reason = 'length') as cut,
        list(llm_call_id order by seq) filter (where finish_reason = 'length') as cut_calls
    from llm_calls
    group by run_id
)
select
    runs.run_id,
    case when calls.told > 0 then calls.cut::double end as score_value,
    case
        when calls.n is null then 'no_llm_calls'
        when calls.told > 0 then null
        when calls.worked = 0 then 'all_llm_calls_failed'
        else 'no_finish_reason'
    end as not_applicable_reason,
    case when calls.told > 0
        then format('{} of {} with a finish reason were cut off.', calls.cut, things(calls.told, 'LLM call')) end as explanation,
    case when calls.cut > 0 then to_json({'spans': calls.cut_calls}) end as evidence
from runs
left join calls using (run_id);
