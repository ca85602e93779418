-- Spans that are each other's ancestors, or their own. The earliest span of such a cycle counts as a root: the rest hangs below it,
-- as in any other trace. `root`: the span that the cycle is opened at, for every span on it.
-- Each round looks twice as far up, and leaves out the spans whose ancestors ended. What is still going after more steps than there
-- are spans has come to a cycle, and where it is then lies on one. A trace whose spans all begin after their parents has none.
create or replace temp table cycles as
with recursive climbing as (
    select 0 as round, s, parent as ancestor, s as earliest
    from batch_spans
    where parent is not null and trace_id in (select trace_id from batch_spans where parent >= s)
    union all
    select below.round + 1, below.s, above.ancestor, least(below.earliest, above.earliest)
    from climbing as below
    inner join climbing as above on above.s = below.ancestor
    where (1::bigint << below.round) < (select count(*) from batch_spans)
),
endless as (
    select s, ancestor, earliest
    from climbing
    where (1::bigint << round) >= (select count(*) from batch_spans)
)
select s, earliest as root
from endless
where s in (select ancestor from endless);

update batch_spans
set parent = null
where s in (select root from cycles);
