-- Every part of every message, whatever the dialect calls its fields; one source per span and direction: attributes first,
-- then events and log records. Each text is parsed once a level: document, message, part.
create or replace temp table message_parts as
with unnested as (
    select s, direction, unnest(messages) as message, generate_subscripts(messages, 1) as position
    from message_lists
    where len(messages) > 0
),
chosen as (
    select
        s,
        direction,
        position,
        0 as piece,
        case
            when message[1:1] = '"' and is_object_notation(message ->> '$')
                then coalesce(notation_message(message ->> '$'), message)
            else message
        end as message,
        null::varchar as role,
        null::varchar as tool_call_id
    from unnested
    union all
    select event_messages.s, direction, position, piece, to_json(message), role, tool_call_id
    from event_messages
    semi join message_spans using (s)
    where (event_messages.s, event_messages.direction) not in (select (s, direction) from message_lists where len(messages) > 0)
),
read_messages as (
    select *, case when message[1:1] = '{' then message_fields(message) end as envelope
    from chosen
),
bodies as (
    select
        s,
        direction,
        position::integer as position,
        piece,
        tool_call_id,
        coalesce(role, message_role(envelope),
            case direction when 'output' then 'assistant' when 'system' then 'system' else 'user' end) as role,
        coalesce(message_body(envelope), message) as body,
        case when message_body(envelope) is not null then message_fields(message_body(envelope)) else envelope end as fields
    from read_messages
),
part_lists as (
    select
        s, direction, position, piece, role,
        coalesce(fields.tool_call_id, fields.call_id, tool_call_id,
            case when role = 'tool' and json_type(fields.id) = 'VARCHAR' then fields.id ->> '$' end) as tool_call_id,
        fields.name as name,
        coalesce(fields.status, '') = 'error' as is_error,
        case when fields is null then [body] else message_parts_of(fields, body) end as parts
    from bodies
),
parts as (
    -- A message without parts gives no row. To ask for its parts here would read it twice.
    select * exclude (parts), unnest(parts) as part, generate_subscripts(parts, 1) as part_index
    from part_lists
),
parsed as (
    select
        * exclude (part),
        case when part[1:1] = '"' then part ->> '$' end as plain,
        case when part[1:1] = '{' then part_fields(part) end as p
    from parts
),
kinds as (
    select *, case when plain is not null then 'text' else part_kind(p) end as kind
    from parsed
),
read as (
    select
        *,
        case when kind = 'text' and role = 'tool' then 'tool_call_response' else kind end as part_type,
        case when kind in ('text', 'reasoning') then coalesce(plain, part_text(p)) end as said
    from kinds
)
select
    s,
    direction,
    position,
    (1000 * piece + part_index - 1)::integer as part_index,
    case when part_type = 'tool_call_response' then 'tool' else role end as role,
    part_type,
    case when part_type in ('text', 'reasoning') then said end as text,
    case when part_type in ('tool_call', 'tool_call_response') then coalesce(part_call_id(p), tool_call_id) end as tool_call_id,
    case
        when part_type = 'tool_call' then part_tool_name(p)
        when part_type = 'tool_call_response' then coalesce(part_tool_name(p), name)
    end as tool_name,
    case when part_type = 'tool_call' then part_arguments(p) end as arguments,
    case when part_type = 'tool_call_response' then case when kind = 'text' then said else part_response(p) end end as response,
    part_type = 'tool_call_response' and (is_error or p is not null and part_is_error(p)) as is_error
from read
where part_type <> 'text' or said is not null;

drop table message_lists;
