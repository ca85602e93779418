create table if not exists retrievals (
    retrieval_id varchar,
    run_id varchar,
    trace_id varchar,
    agent_invocation_id varchar,
    agent_name varchar,
    kind varchar,
    data_source varchar,
    query varchar,
    started_at timestamp_ns,
    duration_s double,
    status varchar,
    documents json
);

comment on table retrievals is 'Searches in documents or memory.';
comment on column retrievals.retrieval_id is 'Span id';
comment on column retrievals.run_id is 'Run';
comment on column retrievals.trace_id is 'Trace';
comment on column retrievals.agent_invocation_id is 'Agent invocation';
comment on column retrievals.agent_name is 'Agent';
comment on column retrievals.kind is 'retrieve, rerank or memory';
comment on column retrievals.data_source is 'What was searched';
comment on column retrievals.query is 'What was searched for';
comment on column retrievals.started_at is 'Start [UTC]';
comment on column retrievals.duration_s is 'End minus start [s]';
comment on column retrievals.status is 'ok or error';
comment on column retrievals.documents is 'Documents found, as an array of objects';
