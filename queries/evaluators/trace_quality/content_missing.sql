-- /// evaluator
-- id = "content_missing"
-- title = "Whether the trace lacks what was said: no message, argument or result was captured"
-- grain = "run"
-- unit = "boolean"
-- better = "lower"
-- ///
--
-- Many instrumentations leave content out unless told otherwise. Everything that reads answers, arguments or results is not
-- applicable then; counts, times, tokens and cost are not affected. NULL: nothing in the run could have content.
select
    run_id,
    case when has_content is not null and (has_content or coalesce(llm_calls, 1) + coalesce(tool_calls, 0) > 0)
        then (not has_content)::integer::double end as score_value,
    case when has_content is null or not (has_content or coalesce(llm_calls, 1) + coalesce(tool_calls, 0) > 0)
        then 'no_calls' end as not_applicable_reason,
    case when has_content then 'Content was captured.'
        when coalesce(llm_calls, 1) + coalesce(tool_calls, 0) > 0 then 'No message, argument or result was captured.' end
        as explanation
from runs;
