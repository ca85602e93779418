-- /// evaluator
-- id = "tool_recall"
-- title = "Share of the expected tools that were called"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case"]
-- ///
--
-- A tool that the expectation lists twice must be called twice. What else was called does not count (`tool_precision`), nor do
-- arguments (`tool_arguments_match`). The evidence holds the counts, for a share over all expected tools of many runs.
-- Nothing to recall where the list of expected tools is empty: that is `tool_set_match`.
-- A transfer or an agent called as a tool counts only where the case names it. A call that was refused or never ran does not.
-- NULL: the run is no attempt at a case, the case expects nothing of tools, or a model asked for tools and the trace shows none.
with wanted as (
    select
        run_id,
        coalesce(expected_tools, json_extract_string(expected_calls, '$[*].tool')) as tools
    from cases
),
made as (
    select tool_calls.run_id, list(tool_name) as tools
    from tool_calls
    inner join wanted using (run_id)
    where is_work(is_handoff, is_agent_tool) or list_contains(wanted.tools, tool_name)
    group by tool_calls.run_id
),
unseen as (
    select run_id from llm_calls where finish_reason = 'tool_calls'
    except select run_id from tool_calls
    except select run_id from tool_requests
),
compared as (
    select
        runs.run_id,
        wanted.tools as wanted,
        shared_count(wanted.tools, coalesce(made.tools, [])) as met,
        list_filter(list_distinct(wanted.tools), lambda tool: not list_contains(coalesce(made.tools, []), tool)) as missing,
        no_tools_reason(wanted.run_id is not null, len(wanted.tools) > 0, unseen.run_id is not null) as reason
    from runs
    left join wanted using (run_id)
    left join made using (run_id)
    left join unseen using (run_id)
)
select
    run_id,
    case when reason is null then safe_ratio(met, len(wanted)) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} were called.', met, things(len(wanted), 'expected tool')) end as explanation,
    case when reason is null then to_json({'met': met, 'expected': len(wanted), 'missing': list_sort(missing)}) end as evidence
from compared;
