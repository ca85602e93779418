-- /// evaluator
-- id = "unknown_tool_calls"
-- title = "Calls of tools that do not exist"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts requests of a model for a tool that it was not offered or that the framework does not know. NULL: no model asked for a
-- tool. Not to be trusted where a framework drops such requests without a trace.
with asked as (
    select run_id, count(*) as n
    from (
        select run_id from tool_calls where is_work(is_handoff, is_agent_tool)
        union all
        select run_id from tool_requests where not coalesce(is_handoff, false)
    )
    group by run_id
),
refused as (
    select run_id, count(*) as n, list(distinct tool_name order by tool_name) as tools,
        list({'tool': tool_name, 'arguments': arguments::varchar, 'response': response[1:500]} order by seq)[1:20] as requests
    from tool_requests
    where outcome = 'unknown_tool' and not coalesce(is_handoff, false)
    group by run_id
)
select
    runs.run_id,
    case when asked.n is not null then coalesce(refused.n, 0)::double end as score_value,
    case when asked.n is null then 'no_tool_calls' end as not_applicable_reason,
    case when asked.n is not null then format('{} of {} were for tools that do not exist{}.',
        coalesce(refused.n, 0), things(asked.n, 'request'), coalesce(': ' || name_list(refused.tools), '')) end as explanation,
    case when refused.n > 0 then to_json({'requests': refused.requests}) end as evidence
from runs
left join asked using (run_id)
left join refused using (run_id);
