-- Since when a trace waits for its trajectory: what has waited longest is derived first, whatever the traces that get more spans all the
-- time, and how long the oldest has waited is known to a collector that did not load it.
alter table pending_traces add column waiting_since timestamp default (current_localtimestamp()::timestamp);

comment on column pending_traces.waiting_since is
    'Since when it waits [UTC]: when the oldest request of the load was received that brought rows the trajectory did not show yet; without a collector, when they were loaded.';
