-- What is to be scored, in the order in which it lies in the store; what failed before comes last.
select
    kind,
    subject_id,
    fingerprint,
    case_fingerprint,
    n_runs::bigint as n_runs,
    n_spans::bigint as n_spans,
    missing,
    verdict,
    received_at
from plan_verdicts
where verdict in ('scored', 'rescored')
order by has_failed, kind, place
limit $limit;
