-- What the archive holds, a row per day: whole files, and the traces that count.
with files as (
    select part, count(*) as files, sum(bytes)::bigint as bytes
    from archive_files
    group by part
),
traces as (
    select part, count(*) as traces, sum(spans)::bigint as spans
    from archived_traces
    group by part
)
select
    archive_parts.day,
    sum(files.files)::bigint as files,
    sum(files.bytes)::bigint as bytes,
    sum(traces.traces)::bigint as traces,
    sum(traces.spans)::bigint as spans
from archive_parts
inner join files using (part)
inner join traces using (part)
group by archive_parts.day
order by archive_parts.day
