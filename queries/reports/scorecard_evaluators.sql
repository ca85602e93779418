-- What the evaluators are that scored this store, and those that failed when they were last run.
select
    coalesce(evaluators.evaluator, failures.evaluator) as evaluator,
    evaluators.title,
    evaluators.question,
    coalesce(evaluators.grain, failures.grain) as grain,
    evaluators.unit,
    evaluators.better,
    failures.error
from spanscore.main.evaluators as evaluators
full join (
    select evaluator, any_value(grain) as grain, max(error) as error
    from spanscore.main.scores
    where error is not null
    group by evaluator
) as failures using (evaluator)
order by 1
