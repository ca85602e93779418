-- Alerts that messages about wait for the webhook, what waited longest first, and why they do.
select
    alert,
    count(*) as waiting,
    min(queued_at) as oldest,
    max(attempts) as failed_passes,
    arg_max(last_error, (last_error is not null, queued_at)) as last_error
from alert_outbox
group by alert
order by oldest, alert
