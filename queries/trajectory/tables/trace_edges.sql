create table if not exists trace_edges (
    trace_id varchar,
    other_trace_id varchar,
    reason varchar
);

comment on table trace_edges is 'Traces that are parts of one run, each pair in both directions.';
comment on column trace_edges.trace_id is 'Trace';
comment on column trace_edges.other_trace_id is 'Trace that belongs to the same run';
comment on column trace_edges.reason is 'message_hop (a messaging span links to the other trace), tool_result (the other trace brings the result of a tool call that this one asked for) or same_call (both traces tell of one LLM call)';

create table if not exists open_conversations (
    trace_id varchar,
    resource_id varchar,
    start_ns ubigint,
    question_hash varchar,
    asked varchar[],
    answered varchar[]
);

comment on table open_conversations is 'Traces that hold LLM calls and no agent: what they asked tools for and what results they start with.';
comment on column open_conversations.trace_id is 'Trace';
comment on column open_conversations.resource_id is 'Resource that wrote the trace';
comment on column open_conversations.start_ns is 'Start of the trace [ns since 1970]';
comment on column open_conversations.question_hash is 'MD5 of the last user text: calls of one run work on one question';
comment on column open_conversations.asked is 'Tool calls that a model of this trace asked for: id, tool and MD5 of the arguments';
comment on column open_conversations.answered is 'Tool calls that stand in the input after the question: id, tool and MD5 of the arguments';
