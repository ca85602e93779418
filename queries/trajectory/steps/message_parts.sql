-- Every part of every message, whatever the dialect calls its fields.
create or replace temp table message_bodies as
select
    s,
    direction,
    position,
    piece,
    tool_call_id,
    coalesce(role, message_role(fields), case direction when 'output' then 'assistant' when 'system' then 'system' else 'user' end)
        as role,
    coalesce(message_body(fields), message) as body,
    case when message_body(fields) is not null then message_fields(message_body(fields)) else fields end as fields
from raw_messages;

create or replace temp table message_part_lists as
select
    s, direction, position, piece, role,
    coalesce(fields.tool_call_id, fields.call_id, tool_call_id,
        case when role = 'tool' and json_type(fields.id) = 'VARCHAR' then fields.id ->> '$' end) as tool_call_id,
    fields.name as name,
    coalesce(fields.status, '') = 'error' as is_error,
    case when fields is null then [body] else message_parts_of(fields, body) end as parts
from message_bodies;

create or replace temp table message_parts as
with parts as (
    select * exclude (parts), unnest(parts) as part, generate_subscripts(parts, 1) as part_index
    from message_part_lists
    where len(parts) > 0
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
