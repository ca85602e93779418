-- /// evaluator
-- id = "steps"
-- title = "Steps that the run took"
-- grain = "run"
-- unit = "count"
-- better = "lower"
-- ///
--
-- A step is one call of a model or one call of a tool that ran; failed ones count. Transfers and agents called as tools are
-- not steps of their own: the calls of the agent behind them are. NULL: the trace shows neither a model nor a tool call.
-- Not to be trusted for a run whose spans have not all arrived (`unfinished_spans`, `orphan_spans`).
select
    run_id,
    case when llm_calls + tool_calls > 0 then (llm_calls + tool_calls)::double end as score_value,
    case when llm_calls + tool_calls > 0 then null else 'no_steps' end as not_applicable_reason,
    case
        when llm_calls + tool_calls > 0 then format('{} and {}.', things(llm_calls, 'LLM call'), things(tool_calls, 'tool call'))
    end as explanation
from runs;
