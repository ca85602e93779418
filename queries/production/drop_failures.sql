-- Failures of evaluators that failed otherwise now: with another file or other parameters.
delete from scores
where error is not null
    and exists (
        select 1
        from evaluated
        where evaluated.error is not null
            and evaluated.evaluator = scores.evaluator
            and (evaluated.evaluator_sha256 <> scores.evaluator_sha256 or evaluated.params <> scores.params::varchar)
    );
