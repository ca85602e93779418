-- What is known of the batch now.
insert into scored_subjects by name
select *
from batch_states;
