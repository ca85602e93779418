-- The attribute keys whose values are the longest all together, of a sample of `$sampled` spans of the database [bytes before compression].
with entries as (
    select unnest(map_entries(attributes)) as entry
    from (
        select attributes
        from spanscore.main.spans
        using sample reservoir($sampled rows) repeatable (1)
    )
)
select
    entry.key as key,
    count(*) as values,
    sum(strlen(entry.value::varchar))::bigint as bytes
from entries
group by entry.key
order by bytes desc nulls last, key
limit $limit
