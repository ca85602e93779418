-- What became of everything that was ever received: received = stored + duplicate + conflict + rejected, per signal;
-- `purged` is what of the stored has been deleted since.
select
    signal,
    outcome,
    reason,
    sum(n)::bigint as n
from ingest_accounting
group by signal, outcome, reason
order by signal, outcome, n desc, reason nulls first
