-- A tool that asks an agent named in its arguments is that agent's invocation, when no span of the agent's own is inside.
insert into span_values
select
    s,
    'subagent_type' as column_name,
    argument_target(unwrapped_arguments(any_value(value) filter (where column_name = 'tool_arguments'))) as value
from span_values
where column_name in ('tool_name', 'tool_arguments', 'subagent_type')
group by s
having bool_or(column_name = 'tool_name' and is_delegation_tool(value)) and not bool_or(column_name = 'subagent_type');
