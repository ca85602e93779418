-- Reading one part of a message, whatever the dialect calls its fields. JSON is parsed once a part, into a struct.

-- part_fields: the fields of a part; all NULL for a part that is a bare text.
create or replace temp macro part_fields(part) as
    from_json(part, '{"type": "VARCHAR", "block_type": "VARCHAR", "content": "JSON", "text": "JSON", "reasoning": "JSON",
        "thinking": "JSON", "id": "VARCHAR", "call_id": "VARCHAR", "toolCallId": "VARCHAR", "tool_call_id": "VARCHAR",
        "tool_use_id": "VARCHAR", "name": "VARCHAR", "toolName": "VARCHAR", "tool_name": "VARCHAR", "arguments": "JSON",
        "args": "JSON", "input": "JSON", "tool_kwargs": "JSON", "function": "JSON", "function_call": "JSON", "functionCall": "JSON",
        "function_response": "JSON", "functionResponse": "JSON", "toolUse": "JSON", "toolResult": "JSON", "response": "JSON",
        "result": "JSON", "output": "JSON", "is_error": "VARCHAR", "isError": "VARCHAR", "error": "VARCHAR", "status": "VARCHAR"}');

-- part_kind: text, reasoning, tool_call, tool_call_response, or the emitter's own word.
create or replace temp macro part_kind(p) as
    case
        when lower(p.type) in ('text', 'input_text', 'output_text', 'message') then 'text'
        when lower(p.type) in ('reasoning', 'thinking', 'redacted_thinking') then 'reasoning'
        when '{' in (p.function_response[1:1], p.functionResponse[1:1], p.toolResult[1:1]) then 'tool_call_response'
        when '{' in (p.function_call[1:1], p.functionCall[1:1], p.toolUse[1:1]) then 'tool_call'
        when lower(p.type) in ('tool_call_response', 'tool-result', 'tool_result', 'function_call_output',
            'server_tool_call_response', 'mcp_tool_result') then 'tool_call_response'
        when lower(p.type) in ('tool_call', 'tool-call', 'tool_use', 'function_call', 'function', 'server_tool_call',
            'server_tool_use', 'mcp_tool_use') then 'tool_call'
        when p.function[1:1] = '{' or coalesce(p.args, p.arguments, p.input) is not null
            and coalesce(p.name, p.toolName, p.tool_name) is not null then 'tool_call'
        when p.text[1:1] = '"' then 'text'
        else coalesce(lower(p.type), lower(p.block_type), 'other')
    end;

-- part_text: what a text or reasoning part says.
create or replace temp macro part_text(p) as
    case '"'
        when p.content[1:1] then p.content ->> '$'
        when p.text[1:1] then p.text ->> '$'
        when p.reasoning[1:1] then p.reasoning ->> '$'
        when p.thinking[1:1] then p.thinking ->> '$'
        else p.content ->> '$[0].text'
    end;

-- part_call_id, part_tool_name, part_arguments: of a tool call; the id and name also of a response.
create or replace temp macro part_call_id(p) as
    meaningful(coalesce(
        p.call_id, p.id, p.toolCallId, p.tool_call_id, p.tool_use_id, p.toolUse ->> '$.toolUseId', p.toolResult ->> '$.toolUseId',
        p.function_call ->> '$.id', p.function_response ->> '$.id', p.functionCall ->> '$.id', p.functionResponse ->> '$.id'
    ));
create or replace temp macro part_tool_name(p) as
    coalesce(
        p.function ->> '$.name', p.name, p.toolName, p.tool_name, p.toolUse ->> '$.name', p.function_call ->> '$.name',
        p.function_response ->> '$.name', p.functionCall ->> '$.name', p.functionResponse ->> '$.name'
    );
create or replace temp macro part_arguments(p) as
    json_text(coalesce(
        p.function -> '$.arguments', p.arguments, p.args, p.input, p.tool_kwargs, p.toolUse -> '$.input',
        p.function_call -> '$.args', p.functionCall -> '$.args'
    ));

-- part_response: the result that a response part carries, out of its envelope.
create or replace temp macro part_response(p) as
    json_text(coalesce(
        p.output -> '$.value', p.response, p.result, p.output, p.toolResult -> '$.content', p.function_response -> '$.response',
        p.functionResponse -> '$.response', p.content
    ));
create or replace temp macro part_is_error(p) as
    coalesce(p.is_error, p.isError, p.error, 'false') = 'true'
    or coalesce(p.toolResult ->> '$.status', p.status, '') = 'error'
    or coalesce(p.output ->> '$.type', '') like 'error%';

-- unwrapped_result: a tool result out of the envelopes that frameworks put around it: a serialized tool message, a list of
-- text blocks, an object with the one key that SDKs use for "the result".
create or replace temp macro unwrapped_result(value) as
    case
        -- A printed dict is the same object in another notation.
        when value[1:2] in ('{''', '[{') and try_cast(value as json) is null then coalesce(notation_json(value)::varchar, value)
        when value[1:1] not in ('{', '[', '"') or try_cast(value as json) is null then value
        when json_type(try_cast(value as json)) = 'VARCHAR' then try_cast(value as json) ->> '$'
        else coalesce(
            try_cast(value as json) ->> '$.output.kwargs.content',
            try_cast(value as json) ->> '$.kwargs.content',
            case when json_type(try_cast(value as json), '$.data.content') is not null
                and json_type(try_cast(value as json), '$.type') is not null then try_cast(value as json) ->> '$.data.content' end,
            case when json_type(try_cast(value as json), '$.output.content') is not null
                then try_cast(value as json) ->> '$.output.content' end,
            case when json_type(try_cast(value as json), '$.raw_output') is not null
                then json_text(try_cast(value as json) -> '$.raw_output') end,
            -- A block says nothing beside its text; a search hit with a text and an address is no block.
            case when json_array_length(try_cast(value as json)) = 1 and json_type(try_cast(value as json), '$[0].text') = 'VARCHAR'
                and (try_cast(value as json) ->> '$[0].type' in ('text', 'input_text', 'output_text')
                    or json_keys(try_cast(value as json), '$[0]') = ['text'])
                then try_cast(value as json) ->> '$[0].text' end,
            case when json_keys(try_cast(value as json)) = ['output'] then json_text(try_cast(value as json) -> '$.output') end,
            case when json_type(try_cast(value as json), '$.content') = 'VARCHAR'
                and coalesce(json_type(try_cast(value as json), '$.tool_call_id'), json_type(try_cast(value as json), '$.role'))
                is not null then try_cast(value as json) ->> '$.content' end,
            value
        )
    end;

-- unwrapped_arguments: tool arguments out of their envelope: {"args": [], "kwargs": {…}}, {"input_str": …, "inputs": {…}}.
create or replace temp macro unwrapped_arguments(value) as
    case
        when value[1:1] not in ('{', '"') or try_cast(value as json) is null then value
        when json_type(try_cast(value as json)) = 'VARCHAR' then try_cast(value as json) ->> '$'
        when json_type(try_cast(value as json), '$.kwargs') = 'OBJECT' and json_type(try_cast(value as json), '$.args') = 'ARRAY'
            then json_text(try_cast(value as json) -> '$.kwargs')
        when json_type(try_cast(value as json), '$.kwargs') = 'OBJECT' and len(json_keys(try_cast(value as json))) = 1
            then json_text(try_cast(value as json) -> '$.kwargs')
        when json_type(try_cast(value as json), '$.inputs') = 'OBJECT' then json_text(try_cast(value as json) -> '$.inputs')
        when json_type(try_cast(value as json), '$.input_str') = 'VARCHAR' then try_cast(value as json) ->> '$.input_str'
        when json_type(try_cast(value as json), '$.sanitize_inputs_outputs') is not null
            then json_text(try_cast(value as json) -> '$.kwargs')
        else value
    end;
