-- What scoring on a schedule remembers between passes: what has been scored by which evaluators, what still has to be told to
-- others, and which alerts fire. No trace can bring it back, so a rebuild of the trajectory leaves it alone.

create table evaluator_versions (
    version integer not null,
    evaluator varchar not null,
    evaluator_sha256 varchar not null,
    params varchar not null,
    model_version varchar,
    price_fingerprint varchar
);

comment on table evaluator_versions is 'One row per way in which `spanscore score` has run an evaluator; another one may give other scores for the same run.';
comment on column evaluator_versions.version is 'Number that scored_subjects and score_outbox name it by.';
comment on column evaluator_versions.evaluator is 'Id of the evaluator.';
comment on column evaluator_versions.evaluator_sha256 is 'SHA-256 of its file, lower-case hex.';
comment on column evaluator_versions.params is 'Parameters it ran with, as JSON.';
comment on column evaluator_versions.model_version is 'Model of the trajectory tables that it read.';
comment on column evaluator_versions.price_fingerprint is 'Prices that were in force; NULL = none.';

create table scored_subjects (
    kind varchar not null,
    subject_id varchar not null,
    source varchar,
    fingerprint varchar,
    case_fingerprint varchar,
    done integer[] not null,
    failed integer[] not null,
    attempts integer not null,
    scored_at timestamp not null
);

comment on table scored_subjects is 'One row per run or session that `spanscore score` has scored: as long as nothing of it changes, it is not scored again.';
comment on column scored_subjects.kind is 'run or session.';
comment on column scored_subjects.subject_id is 'Id of the run or session.';
comment on column scored_subjects.source is 'Source of the run as it was scored: production or benchmark; of a session, the source that was asked for; NULL = all.';
comment on column scored_subjects.fingerprint is 'Fingerprint as it was scored; of a session, MD5 over those of its runs.';
comment on column scored_subjects.case_fingerprint is 'MD5 of the case that the run was measured against; NULL = none.';
comment on column scored_subjects.done is 'Evaluators that have scored it: versions of evaluator_versions.';
comment on column scored_subjects.failed is 'Evaluators that failed over it, likewise; they are tried again, a few times.';
comment on column scored_subjects.attempts is 'Passes in a row in which an evaluator failed over it as it is [count].';
comment on column scored_subjects.scored_at is 'When they last did [UTC].';

create table score_outbox (
    destination varchar not null,
    kind varchar not null,
    subject_id varchar not null,
    versions integer[] not null,
    queued_at timestamp not null
);

comment on table score_outbox is 'Runs and sessions whose scores have still to be sent: written with the scores, deleted when they have arrived.';
comment on column score_outbox.destination is 'Endpoint without user and password, or file.';
comment on column score_outbox.kind is 'run or session.';
comment on column score_outbox.subject_id is 'Id of the run or session.';
comment on column score_outbox.versions is 'Whose scores: versions of evaluator_versions.';
comment on column score_outbox.queued_at is 'When it was scored [UTC].';

create table alert_states (
    alert varchar not null,
    series varchar not null,
    state varchar not null,
    since timestamp not null,
    notified_at timestamp,
    value double,
    reason varchar not null
);

comment on table alert_states is 'One row per series of an alert rule that has ever fired.';
comment on column alert_states.alert is 'Name of the rule.';
comment on column alert_states.series is 'Service or agent that the rule is judged for; empty = all together.';
comment on column alert_states.state is 'firing or resolved.';
comment on column alert_states.since is 'When it came into this state [UTC].';
comment on column alert_states.notified_at is 'When a message about it was last queued [UTC]; NULL = never, there is no webhook.';
comment on column alert_states.value is 'Value at the last change, in the unit of the metric.';
comment on column alert_states.reason is 'What the last change rests on, in one sentence.';

create table alert_outbox (
    message_id varchar not null,
    alert varchar not null,
    series varchar not null,
    payload json not null,
    queued_at timestamp not null,
    attempts integer not null,
    last_error varchar
);

comment on table alert_outbox is 'Messages about alerts that have still to reach the webhook: written with the change of state, deleted when they have arrived.';
comment on column alert_outbox.message_id is 'Id of the message; the same however often it is sent.';
comment on column alert_outbox.alert is 'Name of the rule.';
comment on column alert_outbox.series is 'Service or agent; empty = all together.';
comment on column alert_outbox.payload is 'What is posted.';
comment on column alert_outbox.queued_at is 'When the state changed [UTC].';
comment on column alert_outbox.attempts is 'Passes in which it could not be delivered [count].';
comment on column alert_outbox.last_error is 'Why not, the last time; NULL = not tried yet.';
