-- /// evaluator
-- id = "tool_set_match"
-- title = "Whether the tools that were called are exactly the expected ones"
-- grain = "run"
-- unit = "boolean"
-- better = "higher"
-- needs = ["case"]
-- ///
--
-- Compares sets of names: the order and number of calls do not count, nor do their arguments (`tool_arguments_match`). An empty
-- list of expected tools means that none should be called. A case that lists expected calls alone expects their tools.
-- A transfer or an agent called as a tool counts only where the case names it. A call that was refused or never ran does not.
-- NULL: the run is no attempt at a case, the case expects nothing of tools, or a model asked for tools and the trace shows none.
with wanted as (
    select run_id, list_sort(list_distinct(coalesce(expected_tools, json_extract_string(expected_calls, '$[*].tool')))) as tools
    from cases
),
made as (
    select tool_calls.run_id, list_sort(list(distinct tool_name)) as tools
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
        coalesce(made.tools, []) as made,
        no_tools_reason(wanted.run_id is not null, wanted.tools is not null, unseen.run_id is not null) as reason
    from runs
    left join wanted using (run_id)
    left join made using (run_id)
    left join unseen using (run_id)
)
select
    run_id,
    case when reason is null then (wanted = made)::integer::double end as score_value,
    reason as not_applicable_reason,
    case
        when reason is not null then null
        when wanted = made then format('Called exactly the expected tools: {}.', name_list(wanted))
        else format('Expected {}; called {}.', name_list(wanted), name_list(made))
    end as explanation,
    case when reason is null and wanted <> made then to_json({
        'missing': list_filter(wanted, lambda tool: not list_contains(made, tool)),
        'surplus': list_filter(made, lambda tool: not list_contains(wanted, tool))
    }) end as evidence
from compared;
