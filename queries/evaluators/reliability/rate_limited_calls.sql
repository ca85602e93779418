-- /// evaluator
-- id = "rate_limited_calls"
-- title = "LLM calls that the provider turned away for too many requests"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts failed calls whose error is a rate limit, an exhausted quota, an overloaded provider or HTTP 429 or 529, by its type or
-- its words. NULL: no LLM call. Not to be trusted where an SDK retries inside of one span: the failed attempts leave no trace.
with calls as (
    select
        run_id,
        llm_call_id,
        seq,
        coalesce(status = 'error' and regexp_matches(concat_ws(' ', error_type, error_message),
            '(?i)rate.?limit|too.?many.?requests|quota|resource.?exhausted|throttl|overloaded|\b(429|529)\b'), false) as is_limited
    from llm_calls
),
counted as (
    select
        run_id,
        count(*) as n,
        count(*) filter (where is_limited) as limited,
        list(llm_call_id order by seq) filter (where is_limited) as limited_calls
    from calls
    group by run_id
)
select
    runs.run_id,
    counted.limited::double as score_value,
    case when counted.n is null then 'no_llm_calls' end as not_applicable_reason,
    case when counted.n > 0
        then format('{} of {} were turned away.', counted.limited, things(counted.n, 'LLM call')) end as explanation,
    case when counted.limited > 0 then to_json({'spans': counted.limited_calls}) end as evidence
from runs
left join counted using (run_id);
