create table if not exists findings (
    run_id varchar,
    trace_id varchar,
    span_id varchar,
    kind varchar,
    detail varchar
);

comment on table findings is 'What is odd about a trace: whether its figures can be believed.';
comment on column findings.run_id is 'Run; NULL for a trace without one';
comment on column findings.trace_id is 'Trace';
comment on column findings.span_id is 'Span to open first';
comment on column findings.kind is 'orphan_span, unfinished_span, usage_mismatch, missing_token_usage, unpriced_call, unmatched_tool_call, content_missing, unrecognised_spans, cycle, too_deep, unusable_value, span_problem';
comment on column findings.detail is 'One factual sentence';
