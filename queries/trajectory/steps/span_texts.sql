-- What a span was asked and what it answered, in plain text: the last user message with a text part, the last assistant
-- message with one. `is_last`: the message ends its list, so nothing came after it.
create or replace temp table span_texts as
with ends as (
    select
        s,
        direction,
        max(position) as last_position,
        max(position) filter (
            where part_type = 'text' and role = case direction when 'input' then 'user' else 'assistant' end
            and regexp_matches(text, '\S')
        ) as position
    from message_parts
    where direction in ('input', 'output')
    group by s, direction
)
select
    message_parts.s,
    message_parts.direction,
    string_agg(message_parts.text, '' order by message_parts.part_index) filter (where message_parts.part_type = 'text') as text,
    any_value(ends.position = ends.last_position) as is_last,
    bool_or(message_parts.part_type = 'tool_call') as has_tool_call
from message_parts
inner join ends using (s, direction, position)
group by message_parts.s, message_parts.direction;
