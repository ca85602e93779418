-- /// evaluator
-- id = "llm_error_rate"
-- title = "Share of LLM calls that ended in an error"
-- grain = "run"
-- unit = "ratio"
-- better = "lower"
-- ///
--
-- One call to a provider counts once, however many instrumentations traced it; an attempt that failed counts even when the next
-- one succeeds. NULL: no LLM call. Not to be trusted where an SDK retries inside of one span: the failed attempts leave no trace.
with calls as (
    select
        run_id,
        count(*) as n,
        count(*) filter (where status = 'error') as failed,
        list(distinct coalesce(error_type, 'error') order by coalesce(error_type, 'error'))
            filter (where status = 'error') as kinds,
        list(llm_call_id order by seq) filter (where status = 'error') as failed_calls
    from llm_calls
    group by run_id
)
select
    runs.run_id,
    safe_ratio(calls.failed, calls.n) as score_value,
    case when calls.n is null then 'no_llm_calls' end as not_applicable_reason,
    case
        when calls.failed > 0
            then format('{} of {} failed: {}.', calls.failed, things(calls.n, 'LLM call'), name_list(calls.kinds))
        when calls.n > 0 then format('None of {} failed.', things(calls.n, 'LLM call'))
    end as explanation,
    case when calls.failed > 0 then to_json({'spans': calls.failed_calls}) end as evidence
from runs
left join calls using (run_id);
