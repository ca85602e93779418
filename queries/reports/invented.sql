-- Claims of answers that no source supports: one row per run and evaluator, with the answer and the place of each claim in it.
select
    runs.run_id,
    coalesce(runs.entry_agent, runs.name) as agent,
    runs.final_answer,
    scores.evaluator,
    json_extract_string(scores.evidence, '$.unsupported[*].text') as claims,
    json_extract(scores.evidence, '$.unsupported[*].start')::integer[] as starts,
    json_extract(scores.evidence, '$.unsupported[*].end')::integer[] as ends
from scores
inner join runs using (run_id)
where scores.evaluator in ('numbers_grounded', 'urls_grounded')
    and scores.score_value < 1
    and json_array_length(scores.evidence, '$.unsupported') > 0
order by runs.started_at, runs.run_id, scores.evaluator
