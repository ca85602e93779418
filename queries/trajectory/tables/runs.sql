create table if not exists runs (
    run_id varchar,
    trace_id varchar,
    source varchar,
    session_id varchar,
    user_id varchar,
    service_name varchar,
    experiment_id varchar,
    suite_name varchar,
    suite_version varchar,
    case_id varchar,
    trial integer,
    variant varchar,
    name varchar,
    entry_agent varchar,
    started_at timestamp_ns,
    ended_at timestamp_ns,
    duration_s double,
    status varchar,
    error_type varchar,
    error_message varchar,
    question varchar,
    final_answer varchar,
    final_answer_source varchar,
    llm_calls bigint,
    tool_calls bigint,
    tool_errors bigint,
    agent_invocations bigint,
    handoffs bigint,
    input_tokens bigint,
    output_tokens bigint,
    cache_read_tokens bigint,
    cache_write_tokens bigint,
    reasoning_tokens bigint,
    cost_usd double,
    unpriced_llm_calls bigint,
    cost_reported_usd double,
    has_content boolean,
    orphan_spans bigint,
    spans bigint,
    conventions varchar[],
    fingerprint varchar
);

comment on table runs is 'One attempt at one task by the whole agent system: the top-level agent or workflow invocation of a trace.';
comment on column runs.run_id is 'The trace id; for one of several runs in a trace, the trace id, a colon and the id of the run''s top span';
comment on column runs.trace_id is 'Trace of the run; of the first one when message hops spread a run over several traces';
comment on column runs.source is 'benchmark (the run carries a case id) or production';
comment on column runs.session_id is 'Conversation that the run is a turn of; NULL when the emitter names none';
comment on column runs.user_id is 'User that the emitter names';
comment on column runs.service_name is 'service.name of the resource';
comment on column runs.experiment_id is 'Execution of a suite that the run belongs to';
comment on column runs.suite_name is 'Suite of the case';
comment on column runs.suite_version is 'Version of the suite';
comment on column runs.case_id is 'Task of the suite';
comment on column runs.trial is 'Repeat number of the case: 0, 1, …';
comment on column runs.variant is 'What was varied between experiments';
comment on column runs.name is 'Name of the workflow, else of the top span';
comment on column runs.entry_agent is 'Agent that was called first';
comment on column runs.started_at is 'Start of the first span [UTC]';
comment on column runs.ended_at is 'End of the last span [UTC]';
comment on column runs.duration_s is 'From the first start to the last end [s]; NULL while a span is unfinished';
comment on column runs.status is 'ok, error, truncated, paused, cancelled, running or incomplete';
comment on column runs.error_type is 'What ended the run, when its status is error';
comment on column runs.error_message is 'The error''s own words';
comment on column runs.question is 'What was asked: the last user message with text in the first call; NULL when content was not captured';
comment on column runs.final_answer is 'What was answered; NULL when there was no answer or content was not captured';
comment on column runs.final_answer_source is 'Where the answer was read: the run''s own span, or the last LLM call';
comment on column runs.llm_calls is 'LLM calls, failed ones included [calls]';
comment on column runs.tool_calls is 'Tool calls that ran; transfers and agents called as tools are not counted [calls]';
comment on column runs.tool_errors is 'Tool calls that ended in an error [calls]';
comment on column runs.agent_invocations is 'Agent invocations';
comment on column runs.handoffs is 'Handoffs and delegations between agents';
comment on column runs.input_tokens is 'Input tokens, cached ones included, over the calls that report them [tokens]; NULL when none does';
comment on column runs.output_tokens is 'Output tokens, reasoning included [tokens]; NULL when no call reports them';
comment on column runs.cache_read_tokens is 'Input tokens read from a cache [tokens]';
comment on column runs.cache_write_tokens is 'Input tokens written to a cache [tokens]';
comment on column runs.reasoning_tokens is 'Output tokens spent on reasoning [tokens]';
comment on column runs.cost_usd is 'Cost of the LLM calls that have a price [USD]; NULL when none has one';
comment on column runs.unpriced_llm_calls is 'LLM calls that have no price, failed ones too: cost_usd is without them [calls]';
comment on column runs.cost_reported_usd is 'Cost that the emitter itself wrote down [USD]; compared with cost_usd, never added to it';
comment on column runs.has_content is 'Whether messages, tool arguments or results were captured';
comment on column runs.orphan_spans is 'Spans whose parent is not in the store';
comment on column runs.spans is 'Spans of the run';
comment on column runs.conventions is 'Conventions that the spans are written in';
comment on column runs.fingerprint is 'MD5 over the ids of the spans and log records of the run, evaluation results aside: another one when a late span arrives';
