-- Whether each agent invocation, tool call and handoff went well, with the run it belongs to.
-- Transfers and agents called as tools are rows of `tool_calls` but no tools.
select 'agent' as kind, agent_name as name, run_id, status = 'ok' as is_good, duration_s
from agent_invocations
union all
select 'tool', tool_name, run_id, status = 'ok', duration_s
from tool_calls
where not is_handoff and not is_agent_tool
union all
select 'handoff', null, run_id, succeeded, null
from handoffs
order by kind, name, run_id
