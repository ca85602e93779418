-- /// evaluator
-- id = "tool_precision"
-- title = "Share of the called tools that were expected"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case"]
--
-- [params.count_calls]
-- type = "BOOLEAN"
-- default = false
-- doc = "Count calls, not tools: a call beyond the number that is expected of its tool is wrong."
-- ///
--
-- Counts tools, each once however often it was called; with `$count_calls` every call, of which one serves one expected call.
-- A run that called nothing has no precision: see `tool_recall`.
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
        list_filter(list_distinct(made.tools), lambda tool: not list_contains(wanted.tools, tool)) as surplus,
        case when $count_calls then len(made.tools) else len(list_distinct(made.tools)) end as n_made,
        case
            when $count_calls then shared_count(wanted.tools, made.tools)
            else shared_count(list_distinct(wanted.tools), list_distinct(made.tools))
        end as n_right,
        coalesce(
            no_tools_reason(wanted.run_id is not null, wanted.tools is not null, unseen.run_id is not null),
            case when made.run_id is null then no_tool_call_reason(runs.run_id) end
        ) as reason
    from runs
    left join wanted using (run_id)
    left join made using (run_id)
    left join unseen using (run_id)
)
select
    run_id,
    case when reason is null then safe_ratio(n_right, n_made) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} were expected.', n_right,
        things(n_made, if($count_calls, 'tool call', 'called tool'))) end as explanation,
    case when reason is null then to_json({'right': n_right, 'made': n_made, 'surplus': list_sort(surplus)}) end as evidence
from compared;
