-- The rows to store: what evaluators gave, with the fingerprint of what they saw.
with sessions as (
    select session_id, md5(string_agg(fingerprint, ',' order by run_id)) as fingerprint
    from run_scope
    where session_id is not null
    group by session_id
)
select
    outcomes.evaluator_index,
    outcomes.run_id,
    outcomes.subject_id,
    outcomes.agent_name,
    outcomes.score_value,
    outcomes.score_label,
    outcomes.not_applicable_reason,
    outcomes.explanation,
    outcomes.evidence,
    coalesce(run_scope.fingerprint, sessions.fingerprint) as trace_fingerprint
from outcomes
left join run_scope on run_scope.run_id = outcomes.run_id
left join sessions on outcomes.run_id is null and sessions.session_id = outcomes.subject_id
where not list_contains($failed::integer[], outcomes.evaluator_index);
