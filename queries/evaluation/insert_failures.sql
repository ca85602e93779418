-- One row per evaluator that failed, unless it says what it said before.
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
    and evaluated.evaluator not in (select evaluator from scores where error is not null);
