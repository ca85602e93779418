-- The scores that are new or other than before.
insert into scores by name
select
    given_scores.* exclude (score_index),
    now() at time zone 'UTC' as scored_at
from given_scores
where given_scores.score_index not in (select score_index from unchanged);
