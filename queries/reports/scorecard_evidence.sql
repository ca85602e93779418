-- What is wrong with the runs named in `$runs`: their scores that are not the best possible, with explanation and evidence.
select
    scores.run_id,
    scores.evaluator,
    scores.score_value,
    scores.score_label,
    scores.explanation,
    left(scores.evidence::varchar, $longest::integer) as evidence,
    length(scores.evidence::varchar) as evidence_length
from spanscore.main.scores as scores
where scores.run_id in (select unnest($runs::varchar[])) and scores.evaluator in (select unnest($evaluators::varchar[]))
    and scores.score_value is not null
order by scores.run_id, scores.evaluator, scores.subject_id
