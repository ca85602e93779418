-- /// evaluator
-- id = "tool_call_count"
-- title = "Tool calls that the run made"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Calls that ran, failed ones among them; transfers and agents called as tools are no work and do not count, nor does a request
-- that nothing ran. 0 is a count: a run that called no tool. NULL: a model asked for tools, and the trace shows neither a call
-- nor a request.
with unseen as (
    select run_id from llm_calls where finish_reason = 'tool_calls'
    except select run_id from tool_calls
    except select run_id from tool_requests
)
select
    runs.run_id,
    case when unseen.run_id is null then coalesce(runs.tool_calls, 0)::double end as score_value,
    case when unseen.run_id is not null then 'tool_calls_not_captured' end as not_applicable_reason,
    case when unseen.run_id is null then format('{}.', things(coalesce(runs.tool_calls, 0), 'tool call')) end as explanation
from runs
left join unseen using (run_id);
