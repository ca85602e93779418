-- The scores that have still to be sent, with the span that each is about: the agent's, the call's, or the run's own top span. Only
-- scores of the run as it was scored last; what an evaluator failed over has a row without a score.
with chosen as (
    select
        score_outbox.kind,
        score_outbox.subject_id,
        score_outbox.versions,
        scored_subjects.fingerprint,
        scored_subjects.failed,
        scored_subjects.scored_at
    from score_outbox
    inner join scored_subjects using (kind, subject_id)
    where score_outbox.destination = $destination
    order by score_outbox.queued_at, score_outbox.kind, score_outbox.subject_id
    limit $limit
),
of_runs as (
    select runs.run_id, runs.trace_id, runs.session_id
    from runs
    where runs.run_id in (select subject_id from chosen where kind = 'run')
),
-- Spans that were archived are not looked up again: their ids are taken as they stand in the trajectory.
known_spans as (
    select trace_id, span_id, parent_span_id, start_time_unix_nano
    from spanscore.main.spans
    where trace_id in (
        select trace_id from of_runs
        union select trace_id from llm_calls where run_id in (select run_id from of_runs)
        union select trace_id from tool_calls where run_id in (select run_id from of_runs)
        union select trace_id from agent_invocations where run_id in (select run_id from of_runs)
    )
),
tops as (
    select known_spans.trace_id, arg_min(known_spans.span_id,
        (known_spans.parent_span_id is not null, known_spans.start_time_unix_nano, known_spans.span_id)) as span_id
    from known_spans
    left join known_spans as parents
        on parents.trace_id = known_spans.trace_id and parents.span_id = known_spans.parent_span_id
    where parents.span_id is null
    group by known_spans.trace_id
),
subjects as (
    select run_id, 'agent_invocation' as grain, agent_invocation_id as subject_id, trace_id, agent_invocation_id as span_id,
        null as response_id
    from agent_invocations
    where run_id in (select run_id from of_runs)
    union all
    select run_id, 'llm_call', llm_call_id, trace_id, llm_call_id, response_id
    from llm_calls
    where run_id in (select run_id from of_runs)
    union all
    select run_id, 'tool_call', tool_call_id, trace_id, coalesce(span_id, llm_call_id), null
    from tool_calls
    where run_id in (select run_id from of_runs)
    union all
    select run_id, 'handoff', handoff_id, trace_id, coalesce(
        (select any_value(span_id) from known_spans
            where known_spans.trace_id = handoffs.trace_id and known_spans.span_id = handoffs.handoff_id),
        to_invocation_id, from_invocation_id
    ), null
    from handoffs
    where run_id in (select run_id from of_runs)
),
places as (
    select subjects.run_id, subjects.grain, subjects.subject_id, any_value(subjects.trace_id) as trace_id,
        any_value(subjects.span_id) as span_id, any_value(subjects.response_id) as response_id
    from subjects
    where (subjects.trace_id, subjects.span_id) in (select trace_id, span_id from known_spans)
        or subjects.trace_id not in (select trace_id from known_spans)
    group by subjects.run_id, subjects.grain, subjects.subject_id
),
told as (
    select chosen.kind, scores.*
    from chosen
    inner join evaluator_versions as versions on list_contains(chosen.versions, versions.version)
    inner join scores
        on scores.evaluator = versions.evaluator
        and scores.evaluator_sha256 = versions.evaluator_sha256
        and scores.params::varchar = versions.params
        and scores.trace_fingerprint is not distinct from chosen.fingerprint
        and coalesce(scores.run_id, scores.subject_id) = chosen.subject_id
        and (scores.run_id is null) = (chosen.kind = 'session')
    where scores.error is null
    union all by name
    select
        chosen.kind,
        case chosen.kind when 'run' then chosen.subject_id end as run_id,
        chosen.subject_id,
        chosen.kind as grain,
        versions.evaluator,
        versions.evaluator_sha256,
        versions.params::json as params,
        chosen.fingerprint as trace_fingerprint,
        chosen.scored_at,
        'evaluator_failed' as error
    from chosen
    inner join evaluator_versions as versions
        on list_contains(chosen.versions, versions.version) and list_contains(chosen.failed, versions.version)
)
select
    told.kind,
    told.subject_id as scored_id,
    told.grain,
    told.evaluator,
    told.evaluator_sha256,
    told.params::varchar as params,
    told.score_value,
    told.score_label,
    told.not_applicable_reason,
    told.explanation,
    told.agent_name,
    told.trace_fingerprint,
    told.error,
    epoch_us(told.scored_at) as scored_at_us,
    coalesce(of_runs.session_id, case told.kind when 'session' then told.subject_id end) as session_id,
    told.run_id,
    coalesce(places.trace_id, of_runs.trace_id) as trace_id,
    coalesce(
        places.span_id,
        if(contains(told.run_id, ':'), split_part(told.run_id, ':', 2), tops.span_id),
        (select arg_min(agent_invocation_id, (depth, seq)) from agent_invocations where agent_invocations.run_id = told.run_id),
        (select arg_min(llm_call_id, seq) from llm_calls where llm_calls.run_id = told.run_id)
    ) as span_id,
    places.response_id
from told
left join of_runs on of_runs.run_id = told.run_id
left join places
    on places.run_id = told.run_id and places.grain = told.grain and places.subject_id = told.subject_id
left join tops on tops.trace_id = of_runs.trace_id
order by told.kind, told.run_id, told.evaluator, told.subject_id
