-- Evaluators that failed, a row each, unless they are known to fail as they are.
insert into scores by name
select
    evaluated.evaluator,
    evaluated.evaluator_sha256,
    evaluated.params,
    evaluated.grain,
    evaluated.error,
    now() at time zone 'UTC' as scored_at
from evaluated
where evaluated.error is not null
    and not exists (
        select 1
        from scores
        where scores.error is not null
            and scores.evaluator = evaluated.evaluator
    );
