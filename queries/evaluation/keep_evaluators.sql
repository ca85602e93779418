-- What the scores mean, as their evaluators last said.
delete from evaluators
where evaluator in (select evaluator from evaluated where error is null)
    and (evaluator, evaluator_sha256, question) not in (
        select evaluator, evaluator_sha256, question from evaluated where error is null
    );

insert into evaluators by name
select * exclude (evaluator_index, params, error)
from evaluated
where error is null and evaluator not in (select evaluator from evaluators);
