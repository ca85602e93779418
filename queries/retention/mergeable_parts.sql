-- Parts of `$day` that are small enough to be written anew with what comes to them. None of another model: its traces wait to be derived.
select archive_parts.part
from archive_parts
inner join archived_traces using (part)
where archive_parts.day = $day
    and archive_parts.model_version = $model_version
group by archive_parts.part
having sum(archived_traces.spans + archived_traces.log_records) < $merge_spans
