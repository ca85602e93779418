-- Every score of the runs in scope, and of their sessions. `is_stale`: spans of the run have come since it was scored.
with sessions as (
    select session_id, min(run_id) as run_id
    from runs
    where session_id is not null
    group by session_id
)
select
    scores.evaluator,
    coalesce(scores.run_id, sessions.run_id) as run_id,
    scores.agent_name,
    scores.score_value,
    scores.not_applicable_reason,
    runs.run_id is not null and scores.trace_fingerprint is distinct from runs.fingerprint as is_stale
from spanscore.main.scores as scores
left join runs on runs.run_id = scores.run_id
left join sessions on scores.run_id is null and scores.subject_id = sessions.session_id
where scores.error is null and (runs.run_id is not null or sessions.run_id is not null)
order by scores.evaluator, runs.started_at, scores.run_id, scores.subject_id
