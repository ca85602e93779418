-- What the attribute map reads from each span: one row per span and canonical column, the first source in order of priority
-- that says something. Attributes that no row of the map names are not touched.
-- An attribute of a span event or of a log record that names the span is read under the key `event name|key`. The event that
-- repeats a whole call (`gen_ai.client.inference.operation.details`) counts as attributes, after the span's own (`rank` 100).
-- A process that was started for one trial of a benchmark says so on its resource (`rank` 200).
create or replace temp table batch_attributes as
with own as (
    select
        batch_spans.s,
        batch_spans.scope_name,
        unnest(map_keys(spans.attributes)) as key,
        unnest(list_transform(map_values(spans.attributes), lambda value: attribute_text(value))) as value
    from spans
    inner join batch_spans on batch_spans.place = spans.rowid
),
reported as (
    select trace_id, span_id, unnest(map_entries(attributes)) as entry
    from raw_events
    where name = 'gen_ai.client.inference.operation.details'
    union all
    select trace_id, span_id, unnest(map_entries(attributes))
    from raw_logs
    where coalesce(event_name, attributes['event.name']::varchar) = 'gen_ai.client.inference.operation.details'
),
entries as (
    select s, scope_name, 0 as rank, key, value
    from own
    union all
    select batch_spans.s, batch_spans.scope_name, 100, reported.entry.key, attribute_text(reported.entry.value)
    from reported
    inner join batch_spans using (trace_id, span_id)
    union all
    select batch_spans.s, batch_spans.scope_name, 200, trial.entry.key, attribute_text(trial.entry.value)
    from (
        select resource_id, unnest(map_entries(attributes)) as entry
        from resources
        where map_contains(attributes, 'spanscore.case.id')
    ) as trial
    inner join batch_spans using (resource_id)
    where starts_with(trial.entry.key, 'spanscore.')
)
select *
from entries
where key in (select key from attribute_map)
    or regexp_matches(key, '^(llm\.(in|out)put_messages|gen_ai\.(prompt|completion)|retrieval\.documents|llm\.tools)\.[0-9]+\.');

insert into batch_attributes
select
    batch_spans.s,
    batch_spans.scope_name,
    0 as rank,
    event.name || '|' || event.entry.key as key,
    attribute_text(event.entry.value) as value
from (
    select trace_id, span_id, name, unnest(map_entries(attributes)) as entry
    from raw_events
    where name in (select split_part(key, '|', 1) from attribute_map where contains(key, '|'))
) as event
inner join batch_spans using (trace_id, span_id)
where event.name || '|' || event.entry.key in (select key from attribute_map);
