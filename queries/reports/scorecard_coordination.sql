-- How often a supervisor had to give work again, as `supervisor_efficiency` counts it; NULL where it was not scored.
select
    sum(try_cast(scores.evidence ->> 'reassignments' as bigint))::bigint as reassignments
from spanscore.main.scores as scores
inner join runs using (run_id)
where scores.evaluator = 'supervisor_efficiency'
