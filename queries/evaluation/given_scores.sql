-- Rows for the table `scores`, but `scored_at`: what evaluators gave, with what is the same for all rows of one, and the
-- fingerprint of what they saw.
create or replace temp view given_scores as
select
    given_outcomes.row_index,
    given_outcomes.run_id,
    evaluated.evaluator,
    evaluated.evaluator_sha256,
    evaluated.params,
    evaluated.grain,
    coalesce(given_outcomes.subject_id, given_outcomes.run_id) as subject_id,
    given_outcomes.agent_name,
    given_outcomes.score_value,
    given_outcomes.score_label,
    given_outcomes.not_applicable_reason,
    given_outcomes.explanation,
    given_outcomes.evidence,
    case evaluated.grain when 'session' then scored_sessions.fingerprint else scored_runs.fingerprint end as trace_fingerprint
from given_outcomes
inner join evaluated using (evaluator_index)
left join scored_runs on scored_runs.run_id = given_outcomes.run_id
left join scored_sessions on evaluated.grain = 'session' and scored_sessions.session_id = given_outcomes.subject_id;
