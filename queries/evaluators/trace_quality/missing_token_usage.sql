-- /// evaluator
-- id = "missing_token_usage"
-- title = "LLM calls that report no token usage that can be"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts calls that did not fail and report neither input nor output tokens, streamed calls often, or nothing but counts that
-- cannot be: below 0, over 10^12, no number. They are missing in `total_tokens` and `cost`. A reported 0 is a report. NULL: no LLM
-- call that did not fail.
with calls as (
    select
        run_id,
        count(*) as n,
        count(*) filter (where input_tokens is null and output_tokens is null) as silent,
        count(*) filter (where input_tokens is null and output_tokens is null
            and list_has_any(unusable_columns, ['input_tokens', 'output_tokens'])) as unusable,
        list(llm_call_id order by seq) filter (where input_tokens is null and output_tokens is null) as silent_calls
    from llm_calls
    where status is distinct from 'error'
    group by run_id
)
select
    runs.run_id,
    calls.silent::double as score_value,
    case when calls.n is null then no_working_call_reason(runs.run_id) end as not_applicable_reason,
    case when calls.n > 0 then format('{} of {} report no token usage{}.', calls.silent, things(calls.n, 'LLM call'),
        case when calls.unusable > 0 then format(' that can be: {} reported a count that cannot', calls.unusable) else '' end) end
        as explanation,
    case when calls.silent > 0 then to_json({'spans': calls.silent_calls}) end as evidence
from runs
left join calls using (run_id);
