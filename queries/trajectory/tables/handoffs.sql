create table if not exists handoffs (
    handoff_id varchar,
    run_id varchar,
    trace_id varchar,
    seq integer,
    from_agent varchar,
    to_agent varchar,
    from_invocation_id varchar,
    to_invocation_id varchar,
    mode varchar,
    mechanism varchar,
    "at" timestamp_ns,
    is_back boolean,
    is_bounce boolean,
    succeeded boolean,
    confidence double
);

comment on table handoffs is 'Control passing from one agent to another.';
comment on column handoffs.handoff_id is 'Id';
comment on column handoffs.run_id is 'Run';
comment on column handoffs.trace_id is 'Trace';
comment on column handoffs.seq is 'Order in the run: 1, 2, …';
comment on column handoffs.from_agent is 'Agent that gave control';
comment on column handoffs.to_agent is 'Agent that was to take it';
comment on column handoffs.from_invocation_id is 'Invocation that gave control';
comment on column handoffs.to_invocation_id is 'Invocation that took it; NULL when the receiver never started';
comment on column handoffs.mode is 'pass_control, return_to_caller or sequence';
comment on column handoffs.mechanism is 'span, transfer_tool, agent_as_tool, graph_edge or inferred';
comment on column handoffs."at" is 'When [UTC]. AT is a keyword of DuckDB: outside spanscore write "at" in double quotes';
comment on column handoffs.is_back is 'It returns control to an agent that had handed it to this one';
comment on column handoffs.is_bounce is 'The receiver hands back without having called a tool';
comment on column handoffs.succeeded is 'The receiver started';
comment on column handoffs.confidence is '1 where the trace says so; less where it is concluded [0..1]';
