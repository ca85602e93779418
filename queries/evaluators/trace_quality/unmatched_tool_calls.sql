-- /// evaluator
-- id = "unmatched_tool_calls"
-- title = "Tool calls that a model asked for and of which the trace shows no more"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Neither an execution nor a result is there: the span was lost, the run broke off, or tools are not instrumented. The tool
-- metrics know nothing of these calls. Requests that were refused, denied or put off are accounted for and do not count, nor do
-- transfers. NULL: no model asked for a tool.
with asked as (
    select run_id, count(*) as n, count(*) filter (where outcome = 'no_result') as unmatched,
        list(distinct tool_name order by tool_name) filter (where outcome = 'no_result') as tools
    from (
        select run_id, tool_name, 'executed' as outcome from tool_calls where is_work(is_handoff, is_agent_tool)
        union all
        select run_id, tool_name, outcome from tool_requests where not coalesce(is_handoff, false)
    )
    group by run_id
)
select
    runs.run_id,
    asked.unmatched::double as score_value,
    case when asked.n is null then 'no_tool_calls' end as not_applicable_reason,
    case
        when asked.unmatched > 0
            then format('{} of {} have no execution and no result: {}.', asked.unmatched, things(asked.n, 'tool call'),
            name_list(asked.tools))
        when asked.n > 0
            then if(asked.n = 1, 'The tool call is accounted for.', format('All {} tool calls are accounted for.', asked.n))
    end as explanation,
    case when asked.unmatched > 0 then to_json({'tools': asked.tools}) end as evidence
from runs
left join asked using (run_id);
