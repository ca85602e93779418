-- The scores of what is no run or session any more, those that are out of date where the run is another source's now, and failures
-- that have passed.
delete from scores
where (run_id in (select subject_id from leftovers where kind = 'run')
        and trace_fingerprint is distinct from (select fingerprint from leftovers where kind = 'run' and subject_id = scores.run_id))
    or (run_id is null and error is null and subject_id in (select subject_id from leftovers where kind = 'session'))
    or (error is not null and evaluator in (select subject_id from leftovers where kind = 'failure'));
