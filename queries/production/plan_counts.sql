-- Runs and sessions by what becomes of them. `failed`: an evaluator has failed over them and not worked since.
select
    kind,
    verdict,
    count(*) as n,
    count(*) filter (where has_failed and verdict <> 'sampled_out') as failed,
    min(received_at) as oldest
from plan_verdicts
group by kind, verdict;
