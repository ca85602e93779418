-- Earlier failures of evaluators that now work or fail otherwise; when all that there are were run, also those of evaluators
-- that are not there any more. The scores of an evaluator that failed stay: their hash and fingerprint say what they are of.
delete from scores
where error is not null
    and (not $is_selection or evaluator in (select evaluator from evaluated))
    and (evaluator, evaluator_sha256, params::varchar, error) not in (
        select evaluator, evaluator_sha256, params, error from evaluated where error is not null
    );
