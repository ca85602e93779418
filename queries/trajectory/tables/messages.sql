create table if not exists messages (
    run_id varchar,
    trace_id varchar,
    span_id varchar,
    llm_call_id varchar,
    direction varchar,
    position integer,
    part_index integer,
    role varchar,
    part_type varchar,
    text varchar,
    tool_call_id varchar,
    tool_name varchar,
    arguments varchar,
    response varchar,
    is_new boolean
);

comment on table messages is 'Parts of the messages that LLM calls, agents and workflows carry.';
comment on column messages.run_id is 'Run';
comment on column messages.trace_id is 'Trace';
comment on column messages.span_id is 'Span that carries the message';
comment on column messages.llm_call_id is 'LLM call, when the span is one';
comment on column messages.direction is 'input, output or system';
comment on column messages.position is 'Place of the message in its list: 1, 2, …';
comment on column messages.part_index is 'Place of the part in its message: 0, 1, …';
comment on column messages.role is 'system, user, assistant or tool';
comment on column messages.part_type is 'text, reasoning, tool_call, tool_call_response, or the emitter''s word';
comment on column messages.text is 'Text of a text or reasoning part';
comment on column messages.tool_call_id is 'Call that the part belongs to';
comment on column messages.tool_name is 'Tool of the call';
comment on column messages.arguments is 'Arguments of a tool_call part';
comment on column messages.response is 'Result of a tool_call_response part';
comment on column messages.is_new is 'The same part does not stand in an earlier call of the run: history that is sent again is not new';
