-- Log records of no trace from before `$before`.
select log_record_id
from log_records
where trace_id is null
    and least(coalesce(time, observed_time, received_at::timestamp_ns), received_at::timestamp_ns) < $before::timestamp_ns
