-- How far each spool segment has been loaded [bytes].
select
    segment,
    max(end_offset) as end_offset
from spool_manifest
group by segment
