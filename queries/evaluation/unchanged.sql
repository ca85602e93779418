-- Stored scores that new ones repeat in every respect: they keep the time at which they were first found.
create or replace temp table unchanged as
select scores.rowid as score_row, given_scores.row_index
from given_scores
inner join scores
    on scores.evaluator = given_scores.evaluator
    and scores.subject_id = given_scores.subject_id
    and scores.run_id is not distinct from given_scores.run_id
where scores.error is null
    and scores.evaluator_sha256 = given_scores.evaluator_sha256
    and scores.params::varchar = given_scores.params
    and scores.grain = given_scores.grain
    and scores.agent_name is not distinct from given_scores.agent_name
    and scores.score_value is not distinct from given_scores.score_value
    and scores.score_label is not distinct from given_scores.score_label
    and scores.not_applicable_reason is not distinct from given_scores.not_applicable_reason
    and scores.explanation is not distinct from given_scores.explanation
    and scores.evidence::varchar is not distinct from given_scores.evidence
    and scores.trace_fingerprint is not distinct from given_scores.trace_fingerprint
qualify row_number() over (partition by given_scores.row_index order by scores.rowid) = 1;
