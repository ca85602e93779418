-- The scores that are new or other than before.
insert into scores by name
select
    given_scores.* exclude (row_index),
    now() at time zone 'UTC' as scored_at
from given_scores
where given_scores.row_index not in (select row_index from unchanged);
