-- What a span was asked and what it answered, in plain text: the last user message with a text part, the last assistant
-- message with one. `is_last`: the message ends its list, so nothing came after it.
create or replace temp table span_texts as
with texts as (
    select
        s,
        direction,
        position,
        any_value(role) as role,
        string_agg(text, '' order by part_index) filter (where part_type = 'text') as text,
        bool_or(part_type = 'tool_call') as has_tool_call
    from message_parts
    where direction in ('input', 'output')
    group by s, direction, position
),
ends as (
    select s, direction, max(position) as last_position
    from texts
    group by s, direction
)
select
    texts.s,
    texts.direction,
    arg_max(texts.text, texts.position) as text,
    arg_max(texts.position = ends.last_position, texts.position) as is_last,
    arg_max(texts.has_tool_call, texts.position) as has_tool_call
from texts
inner join ends using (s, direction)
where length(trim(texts.text)) > 0
    and (texts.direction = 'input' and texts.role = 'user' or texts.direction = 'output' and texts.role = 'assistant')
group by texts.s, texts.direction;
