-- Parts of the archive in whose files one of `purged_traces` is, or was before it returned to the database.
select part, day
from archive_parts
where part in (
    select part from archived_traces where trace_id in (select trace_id from purged_traces)
    union
    select part from archive_returned where trace_id in (select trace_id from purged_traces)
)
order by part
