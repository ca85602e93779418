-- Which answers state a figure that nothing the agent saw supports, and in which sentence?
--
-- Needs scores: run `spanscore evaluate` first. Offsets of evidence count characters of the final answer.
--
-- Columns: run_id; question; figure (as the answer writes it); sentence (around it).
with claims as (
    select
        run_id,
        unnest(from_json(evidence -> 'unsupported', '[{"text": "VARCHAR", "start": "BIGINT", "end": "BIGINT"}]')) as claim
    from scores
    where evaluator = 'numbers_grounded' and score_value < 1
)
select
    runs.run_id,
    runs.question,
    claims.claim.text as figure,
    trim(regexp_extract(runs.final_answer[:claims.claim.start], '(?:^|[.!?]\s|\n)((?:[^.!?\n]|[.!?]\S)*)$', 1)
        || regexp_extract(runs.final_answer[claims.claim.start + 1:], '^(?:[^.!?\n]|[.!?]\S)*[.!?]?')) as sentence
from claims
inner join runs using (run_id)
order by runs.started_at, runs.run_id, claims.claim.start
