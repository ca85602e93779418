-- Stores the spans of the batch that were not set aside, with their events and links, and remembers their traces.

insert into spans by name
select incoming_spans.* exclude (span_index)
from incoming_spans
anti join set_aside using (span_index);

insert into span_events by name
select incoming_events.* exclude (span_index)
from incoming_events
anti join set_aside using (span_index);

insert into span_links by name
select incoming_links.* exclude (span_index)
from incoming_links
anti join set_aside using (span_index);

insert into pending_traces (trace_id, waiting_since)
select distinct trace_id, waiting_from()
from batch_ids
anti join set_aside using (span_index)
anti join pending_traces using (trace_id);
