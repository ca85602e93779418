-- What evaluating leaves in the store, and what runs are measured against. No trace can bring it back, so a rebuild of the
-- trajectory leaves it alone.

-- The current score of every subject: a run, call or handoff is scored once by each evaluator, and a newer score replaces it.
create table scores (
    run_id varchar,
    evaluator varchar not null,
    evaluator_sha256 varchar not null,
    params json not null,
    grain varchar not null,
    subject_id varchar,
    agent_name varchar,
    score_value double,
    score_label varchar,
    not_applicable_reason varchar,
    explanation varchar,
    evidence json,
    trace_fingerprint varchar,
    scored_at timestamp not null,
    error varchar
);

comment on table scores is 'One row per subject and evaluator: its score, or why it has none. An evaluator that failed has one row with its error.';
comment on column scores.run_id is 'Run that was scored; NULL for a session, and for an evaluator that failed.';
comment on column scores.evaluator is 'Id of the evaluator.';
comment on column scores.evaluator_sha256 is 'SHA-256 of the evaluator file, lower-case hex: scores of two hashes are not comparable.';
comment on column scores.params is 'Parameters it ran with, as an object.';
comment on column scores.grain is 'What is scored: run, agent_invocation, llm_call, tool_call, handoff or session.';
comment on column scores.subject_id is 'Id of what is scored, in its run; the run id when it is the run; NULL when the evaluator failed.';
comment on column scores.agent_name is 'Agent that the score is about; NULL = none in particular.';
comment on column scores.score_value is 'The score, in the unit of the evaluator; a boolean is 1 or 0; NULL = not applicable.';
comment on column scores.score_label is 'Category; NULL = none.';
comment on column scores.not_applicable_reason is 'Why there is no score, in one word; NULL where there is one.';
comment on column scores.explanation is 'One factual sentence; NULL = none.';
comment on column scores.evidence is 'What the score rests on: spans, offsets, values; NULL = none.';
comment on column scores.trace_fingerprint is 'Fingerprint of the run as it was scored; when runs.fingerprint is another one, spans have come since.';
comment on column scores.scored_at is 'When this score was first found [UTC]; scoring again with the same outcome leaves it.';
comment on column scores.error is 'What went wrong, for an evaluator that failed; NULL = nothing.';

-- What the scores mean, kept beside them: a report needs no evaluator files.
create table evaluators (
    evaluator varchar not null,
    evaluator_sha256 varchar not null,
    title varchar not null,
    question varchar not null,
    grain varchar not null,
    unit varchar not null,
    better varchar not null,
    needs varchar[] not null,
    tags varchar[] not null,
    is_shipped boolean not null
);

comment on table evaluators is 'One row per evaluator that has scored this store, as it last did.';
comment on column evaluators.evaluator is 'Id.';
comment on column evaluators.evaluator_sha256 is 'SHA-256 of its file, lower-case hex.';
comment on column evaluators.title is 'What it measures, in a few words.';
comment on column evaluators.question is 'Folder of the catalogue: groundedness, outcome, tools, …; `own` for evaluators of the user.';
comment on column evaluators.grain is 'What it scores: run, agent_invocation, llm_call, tool_call, handoff or session.';
comment on column evaluators.unit is 'Unit of its scores: ratio, boolean, count, calls, tokens, s or usd.';
comment on column evaluators.better is 'Which way is better: higher, lower or none.';
comment on column evaluators.needs is 'What a run must have to be scored, such as content or token_usage.';
comment on column evaluators.tags is 'Tags of its header.';
comment on column evaluators.is_shipped is 'Whether it comes with spanscore.';

create table cases (
    suite_name varchar not null,
    suite_version varchar,
    case_id varchar not null,
    category varchar,
    tags varchar[],
    input varchar,
    expected_tools varchar[],
    expected_calls json,
    expected_steps varchar[],
    expected_agent varchar,
    acceptable_agents varchar[],
    expected_sources varchar[],
    checks json,
    optimal_steps bigint,
    step_cap bigint,
    unanswerable boolean,
    defaults json,
    stored_at timestamp
);

comment on table cases is 'One row per case of every version of a suite: a task, and what is expected of it. NULL = no expectation.';
comment on column cases.suite_name is 'Suite.';
comment on column cases.suite_version is 'Version of the suite.';
comment on column cases.case_id is 'Id of the case in its suite.';
comment on column cases.category is 'Category that reports group by.';
comment on column cases.tags is 'Tags.';
comment on column cases.input is 'What the agent is asked.';
comment on column cases.expected_tools is 'Tools that should be called, in any order; an empty list = none should; NULL = no expectation.';
comment on column cases.expected_calls is 'Calls that should be made: array of {tool, arguments, mode}.';
comment on column cases.expected_steps is 'Tools that should be called, in this order.';
comment on column cases.expected_agent is 'Agent that should take the task.';
comment on column cases.acceptable_agents is 'Agents that may take it, at half the score.';
comment on column cases.expected_sources is 'Sources that the answer should rest on.';
comment on column cases.checks is 'Checks of the outcome: array of {kind, …}.';
comment on column cases.optimal_steps is 'Fewest steps that solve the task [steps].';
comment on column cases.step_cap is 'Most steps that are allowed [steps].';
comment on column cases.unanswerable is 'The right answer is that there is none.';
comment on column cases.defaults is 'Defaults of the suite that apply to the case.';
comment on column cases.stored_at is 'When it was stored [UTC].';

create table experiments (
    experiment_id varchar not null,
    suite_name varchar,
    suite_version varchar,
    variant varchar,
    agent varchar,
    repeats integer,
    started_at timestamp,
    ended_at timestamp,
    git_commit varchar,
    settings json
);

comment on table experiments is 'One row per execution of a suite.';
comment on column experiments.experiment_id is 'Id; runs.experiment_id refers to it.';
comment on column experiments.suite_name is 'Suite that was run.';
comment on column experiments.suite_version is 'Its version.';
comment on column experiments.variant is 'What was varied, such as a model or a prompt.';
comment on column experiments.agent is 'How the agent was reached: callable, command line or URL.';
comment on column experiments.repeats is 'Trials of every case [count].';
comment on column experiments.started_at is 'When it began [UTC].';
comment on column experiments.ended_at is 'When it ended [UTC]; NULL = it did not finish.';
comment on column experiments.git_commit is 'Commit of the agent''s code; NULL = not known.';
comment on column experiments.settings is 'Concurrency, timeout and the rest, as an object.';
