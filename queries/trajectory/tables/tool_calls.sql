create table if not exists tool_calls (
    tool_call_id varchar,
    run_id varchar,
    trace_id varchar,
    span_id varchar,
    agent_invocation_id varchar,
    agent_name varchar,
    llm_call_id varchar,
    seq integer,
    tool_name varchar,
    arguments json,
    result varchar,
    started_at timestamp_ns,
    duration_s double,
    status varchar,
    error_type varchar,
    error_message varchar,
    error_source varchar,
    is_handoff boolean,
    is_agent_tool boolean,
    requested boolean,
    executed boolean
);

comment on table tool_calls is 'Tool calls that ran. A request that nothing ran (refused arguments, unknown tool) is in tool_requests.';
comment on column tool_calls.tool_call_id is 'Id that the model gave the call; the span id where there is none';
comment on column tool_calls.run_id is 'Run';
comment on column tool_calls.trace_id is 'Trace';
comment on column tool_calls.span_id is 'Span of the execution; NULL when only messages show it';
comment on column tool_calls.agent_invocation_id is 'Agent invocation that made the call';
comment on column tool_calls.agent_name is 'Agent that made the call';
comment on column tool_calls.llm_call_id is 'LLM call that asked for it';
comment on column tool_calls.seq is 'Order in the run: 1, 2, …';
comment on column tool_calls.tool_name is 'Name of the tool';
comment on column tool_calls.arguments is 'Arguments; text that is not JSON comes as a JSON string';
comment on column tool_calls.result is 'What the tool gave back, out of the framework''s envelope';
comment on column tool_calls.started_at is 'Start [UTC]';
comment on column tool_calls.duration_s is 'End minus start [s]; NULL without a span';
comment on column tool_calls.status is 'ok or error';
comment on column tool_calls.error_type is 'Error of the call';
comment on column tool_calls.error_message is 'The error''s own words';
comment on column tool_calls.error_source is 'What says that it failed: span_status, attribute, result_flag (the framework marked the result) or result (its text)';
comment on column tool_calls.is_handoff is 'The call hands the conversation to another agent: a handoff, not work';
comment on column tool_calls.is_agent_tool is 'The tool is another agent';
comment on column tool_calls.requested is 'A model''s message asks for it';
comment on column tool_calls.executed is 'It ran: true for every row';
