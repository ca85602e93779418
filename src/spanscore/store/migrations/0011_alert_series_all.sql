-- The series of an alert rule that judges all runs together has the name that `spanscore score` prints.
update alert_states set series = 'all' where series = '';
update alert_outbox set series = 'all' where series = '';

comment on column alert_states.series is 'Service or agent that the rule is judged for; all = all together.';
comment on column alert_outbox.series is 'Service or agent; all = all together.';
