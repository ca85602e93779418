-- /// evaluator
-- id = "tool_f1"
-- title = "Balance of recall and precision of the called tools"
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
-- The harmonic mean of `tool_recall` and `tool_precision`; 0 where no expected tool was called.
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
        safe_ratio(shared_count(wanted.tools, coalesce(made.tools, [])), len(wanted.tools)) as recall,
        case
            when made.run_id is null then 0
            when $count_calls then safe_ratio(shared_count(wanted.tools, made.tools), len(made.tools))
            else safe_ratio(shared_count(list_distinct(wanted.tools), list_distinct(made.tools)), len(list_distinct(made.tools)))
        end as precision,
        no_tools_reason(wanted.run_id is not null, len(wanted.tools) > 0, unseen.run_id is not null) as reason
    from runs
    left join wanted using (run_id)
    left join made using (run_id)
    left join unseen using (run_id)
)
select
    run_id,
    case when reason is null then coalesce(safe_ratio(2 * recall * precision, recall + precision), 0) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('Recall {:.3g}, precision {:.3g}.', recall, precision) end as explanation,
    case when reason is null then to_json({'recall': recall, 'precision': precision}) end as evidence
from compared;
