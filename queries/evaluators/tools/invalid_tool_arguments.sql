-- /// evaluator
-- id = "invalid_tool_arguments"
-- title = "Tool calls that were refused for their arguments"
-- grain = "run"
-- unit = "calls"
-- better = "lower"
-- ///
--
-- Counts requests of a model whose arguments broke the schema of the tool or were refused before it ran. A call whose tool ran
-- and then failed is `tool_error_rate`. NULL: no model asked for a tool. Not to be trusted where a framework repairs or drops
-- such requests without a trace.
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
    where outcome = 'invalid_arguments' and not coalesce(is_handoff, false)
    group by run_id
)
select
    runs.run_id,
    case when asked.n is not null then coalesce(refused.n, 0)::double end as score_value,
    case when asked.n is null then 'no_tool_calls' end as not_applicable_reason,
    case when asked.n is not null then format('{} of {} for a tool had arguments that were refused{}.',
        coalesce(refused.n, 0), things(asked.n, 'request'), coalesce(': ' || name_list(refused.tools), '')) end as explanation,
    case when refused.n > 0 then to_json({'requests': refused.requests}) end as evidence
from runs
left join asked using (run_id)
left join refused using (run_id);
