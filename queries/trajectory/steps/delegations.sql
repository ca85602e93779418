-- A tool that asks an agent named in its arguments is that agent's invocation, when no span of the agent's own is inside.
update span_facts
set subagent_type = argument_target(unwrapped_arguments(tool_arguments))
where is_delegation_tool(tool_name) and subagent_type is null;
