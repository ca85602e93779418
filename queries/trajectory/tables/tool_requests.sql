create table if not exists tool_requests (
    tool_call_id varchar,
    run_id varchar,
    trace_id varchar,
    agent_invocation_id varchar,
    agent_name varchar,
    llm_call_id varchar,
    seq integer,
    tool_name varchar,
    arguments json,
    outcome varchar,
    response varchar,
    started_at timestamp_ns,
    is_handoff boolean
);

comment on table tool_requests is 'Tool calls that a model asked for and that did not run.';
comment on column tool_requests.tool_call_id is 'Id that the model gave the call';
comment on column tool_requests.run_id is 'Run';
comment on column tool_requests.trace_id is 'Trace';
comment on column tool_requests.agent_invocation_id is 'Agent invocation that asked';
comment on column tool_requests.agent_name is 'Agent that asked';
comment on column tool_requests.llm_call_id is 'LLM call that asked';
comment on column tool_requests.seq is 'Order in the run among these requests: 1, 2, …';
comment on column tool_requests.tool_name is 'Name asked for';
comment on column tool_requests.arguments is 'Arguments asked for';
comment on column tool_requests.outcome is 'invalid_arguments, unknown_tool, denied, deferred, or no_result: nothing more is known of it';
comment on column tool_requests.response is 'What the model was told';
comment on column tool_requests.started_at is 'When it was asked [UTC]';
comment on column tool_requests.is_handoff is 'The request hands the conversation to another agent';
