-- The scores of the batch have to be sent, in the transaction that stores them: neither is ever without the other.
insert into score_outbox by name
select *
from batch_queue;
