-- Destinations that scores wait for, what waited longest first, and why they do.
select
    waiting.destination,
    count(*) as waiting,
    min(waiting.queued_at) as oldest,
    any_value(failures.failed_passes) as failed_passes,
    any_value(failures.last_error) as last_error,
    any_value(failures.failed_at) as failed_at
from score_outbox as waiting
left join destination_failures as failures using (destination)
group by waiting.destination
order by oldest, waiting.destination
