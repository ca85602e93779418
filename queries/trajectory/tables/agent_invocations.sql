create table if not exists agent_invocations (
    agent_invocation_id varchar,
    run_id varchar,
    trace_id varchar,
    parent_agent_invocation_id varchar,
    agent_name varchar,
    agent_id varchar,
    caller_kind varchar,
    depth integer,
    seq integer,
    started_at timestamp_ns,
    duration_s double,
    status varchar,
    error_type varchar,
    llm_calls bigint,
    tool_calls bigint,
    input_tokens bigint,
    output_tokens bigint,
    cost_usd double,
    input_text varchar,
    output_text varchar
);

comment on table agent_invocations is 'One run of one agent. An emitter that writes an invocation as several nested spans makes one row.';
comment on column agent_invocations.agent_invocation_id is 'Span id of the invocation; a made-up id where only calls name the agent';
comment on column agent_invocations.run_id is 'Run';
comment on column agent_invocations.trace_id is 'Trace';
comment on column agent_invocations.parent_agent_invocation_id is 'Invocation that called this one; NULL at the top';
comment on column agent_invocations.agent_name is 'Name of the agent; NULL when the emitter gives none';
comment on column agent_invocations.agent_id is 'Id that the emitter gives the agent';
comment on column agent_invocations.caller_kind is 'root, handoff, tool, agent or workflow: what started it';
comment on column agent_invocations.depth is 'Agents above it: 0 at the top';
comment on column agent_invocations.seq is 'Order in the run, by start: 1, 2, …';
comment on column agent_invocations.started_at is 'Start [UTC]';
comment on column agent_invocations.duration_s is 'End minus start [s]; NULL when unfinished or when the agent has no span of its own';
comment on column agent_invocations.status is 'ok or error';
comment on column agent_invocations.error_type is 'Error that ended it';
comment on column agent_invocations.llm_calls is 'Own LLM calls, not those of agents below [calls]';
comment on column agent_invocations.tool_calls is 'Own tool calls [calls]';
comment on column agent_invocations.input_tokens is 'Own input tokens [tokens]';
comment on column agent_invocations.output_tokens is 'Own output tokens [tokens]';
comment on column agent_invocations.cost_usd is 'Own cost, agents below not included [USD]';
comment on column agent_invocations.input_text is 'What the agent was asked';
comment on column agent_invocations.output_text is 'What the agent answered';
