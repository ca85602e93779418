-- What the scores mean, as their evaluators last said.
delete from evaluators
where evaluator in (select evaluator from given_evaluators)
    and (evaluator, evaluator_sha256, question) not in (select evaluator, evaluator_sha256, question from given_evaluators);

insert into evaluators by name
select *
from given_evaluators
where evaluator not in (select evaluator from evaluators);
