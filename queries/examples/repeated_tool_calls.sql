-- Which tool calls were made again with the very same arguments in one run?
--
-- Columns: run_id; tool_name; arguments (JSON); calls [count]; agents (who made them).
select
    run_id,
    tool_name,
    arguments,
    count(*) as calls,
    list_sort(list(distinct agent_name)) as agents
from tool_calls
where not is_handoff and not is_agent_tool
group by run_id, tool_name, arguments
having count(*) > 1
order by calls desc, run_id, tool_name
