-- Versions the store was written with: the newest migration of the raw tables, and what `store_meta` remembers.
select
    'schema_version' as key,
    max(version)::varchar as value
from schema_migrations
union all
select
    key,
    value
from store_meta
order by key
