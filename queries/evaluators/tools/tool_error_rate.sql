-- /// evaluator
-- id = "tool_error_rate"
-- title = "Share of tool calls that ended in an error"
-- grain = "run"
-- unit = "ratio"
-- better = "lower"
-- sources = ["https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span"]
--
-- [params.min_tool_calls]
-- type = "BIGINT"
-- unit = "calls"
-- default = 1
-- doc = "Runs with fewer tool calls are not scored."
-- ///
--
-- Counts tool calls that ran; a failed attempt counts even when a later one succeeds: the question is how often the
-- environment said no, not whether the agent recovered (that is `recovered_from_error`). Transfers and agents called as
-- tools are no work and do not count. A request that nothing ran is not here (`invalid_tool_arguments`, `unknown_tool_calls`).
-- NULL: fewer than `$min_tool_calls` calls. Not to be trusted where a framework swallows the errors of its tools.
with work as (
    select
        run_id,
        count(*) as calls,
        count(*) filter (where status = 'error') as failed,
        string_agg(distinct tool_name, ', ' order by tool_name) filter (where status = 'error') as failed_tools,
        list(span_id order by seq) filter (where status = 'error' and span_id is not null) as failed_spans
    from tool_calls
    where not coalesce(is_handoff, false) and not coalesce(is_agent_tool, false)
    group by run_id
)
select
    runs.run_id,
    case when coalesce(work.calls, 0) >= $min_tool_calls then safe_ratio(work.failed, work.calls) end as score_value,
    case
        when work.calls >= $min_tool_calls and work.calls > 0 then null
        when work.calls is null then no_tool_call_reason(runs.run_id)
        else 'too_few_tool_calls'
    end as not_applicable_reason,
    case
        when work.failed > 0 then format('{} of {} failed: {}.', work.failed, things(work.calls, 'tool call'), work.failed_tools)
        when work.calls > 0 then format('None of {} failed.', things(work.calls, 'tool call'))
    end as explanation,
    case when work.failed > 0 then to_json({'spans': work.failed_spans}) end as evidence
from runs
left join work using (run_id);
