-- Temporary macros of the writing connection, beside those of `values.sql`: times, and contents that can be compared.

-- wire_time: nanoseconds since the epoch as a timestamp; NULL where the wire says 0 or more than a timestamp can hold.
create or replace temp macro wire_time(unix_nano) as
    case
        when unix_nano between 1 and 9223372036854775806 then make_timestamp_ns(try_cast(unix_nano as bigint))
    end;

-- attribute_content: a map as text that equals that of another map when keys, types and values are the same in any order.
create or replace temp macro attribute_content(attributes) as
    list_sort(
        list_transform(
            map_entries(attributes),
            lambda entry: struct_pack(k := entry.key, t := variant_typeof(entry.value), v := entry.value::varchar)
        )
    );

-- event_list, link_list: all events or links of a span as one value, in their order.
create or replace temp macro event_list(event_index, time_unix_nano, name, attributes, dropped_attributes_count) as
    list(
        struct_pack(
            event_index := event_index,
            time_unix_nano := time_unix_nano,
            name := name,
            attributes := attributes,
            dropped_attributes_count := dropped_attributes_count
        )
        order by event_index
    );

create or replace temp macro link_list(
    link_index, linked_trace_id, linked_span_id, trace_state, flags, attributes, dropped_attributes_count
) as
    list(
        struct_pack(
            link_index := link_index,
            linked_trace_id := linked_trace_id,
            linked_span_id := linked_span_id,
            trace_state := trace_state,
            flags := flags,
            attributes := attributes,
            dropped_attributes_count := dropped_attributes_count
        )
        order by link_index
    );

-- waiting_from: since when a trace waits for its trajectory that this load brings rows of: when the oldest request of the load was
-- received, where that is known. A clock that was set back since then leaves no trace behind all the others.
create or replace temp macro waiting_from() as
    least(make_timestamp(getvariable('received_us')::bigint), current_localtimestamp()::timestamp);
