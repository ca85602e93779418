-- Messages that an emitter wrote in Python's notation for objects instead of JSON: ChatMessage(role=<…>, blocks=[TextBlock(…)]).
-- Only what can be read without doubt is read; anything else is left alone.

-- is_object_notation: the text is a printed object, not something that a person or a model said.
create or replace temp macro is_object_notation(value) as
    regexp_matches(value[1:80], '^\s*\[?[A-Z][A-Za-z0-9_]*\((\)\s*$|[A-Za-z_]+=)|^id=''[^'']*'' source=''');

-- notation_text: a quoted literal without its quotes and escapes.
create or replace temp macro notation_text(value) as
    replace(replace(replace(replace(replace(value[2:-2], '\\', chr(1)), '\''', ''''), '\"', '"'), '\n', chr(10)), chr(1), '\');

-- notation_json: a literal of dicts, lists, strings and numbers as JSON; NULL when quotes inside texts make that unsure.
create or replace temp macro notation_json(value) as
    case
        when contains(value, '"') then try_cast(value as json)
        else try_cast(
            regexp_replace(regexp_replace(regexp_replace(replace(value, '''', '"'), '\bTrue\b', 'true', 'g'),
                '\bFalse\b', 'false', 'g'), '\bNone\b', 'null', 'g') as json)
    end;

-- notation_message: one printed message as a JSON message with its texts, tool calls and tool results.
create or replace temp macro notation_message(value) as
    case when regexp_matches(value, '^id=''[^'']*'' source=''') then json_object(
        'role', case when value like '%'' source=''user'' %' then 'user' else 'assistant' end,
        'content', notation_text(nullif(regexp_extract(value,
            '(?s)\bcontent=(''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*") type=', 1), ''))
    ) when regexp_matches(value, 'role=<[A-Za-z]+\.[A-Z]+') then json_object(
        'role', lower(regexp_extract(value, 'role=<[A-Za-z]+\.([A-Z]+)', 1)),
        'content', to_json(list_concat(
            list_transform(
                regexp_extract_all(value, '(?s)\b(?:TextContent|TextBlock)\((?:[a-z_]+=''[a-z]*'', )?text=(''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*")', 1),
                lambda t: json_object('type', 'text', 'text', notation_text(t))
            ),
            case when contains(value, 'ToolCallResult(') then [json_object(
                'type', 'tool_result',
                'id', regexp_extract(value, '\bid=''([^'']*)''', 1),
                'name', nullif(regexp_extract(value, '\btool_name=''([^'']*)''', 1), ''),
                'result', notation_text(regexp_extract(value, '(?s)\bresult=(''(?:[^''\\]|\\.)*''|"(?:[^"\\]|\\.)*")', 1)),
                'is_error', regexp_matches(value, '\berror=True\b')
            )] else list_transform(
                regexp_extract_all(value, '(?s)\bToolCall\(tool_name=''[^'']*'', arguments=\{.*?\}, id=''[^'']*'''),
                lambda t: json_object(
                    'type', 'tool_call',
                    'id', regexp_extract(t, '\bid=''([^'']*)''', 1),
                    'name', regexp_extract(t, '\btool_name=''([^'']*)''', 1),
                    'arguments', notation_json(regexp_extract(t, '(?s)arguments=(\{.*\}), id=', 1))
                )
            ) end
        ))
    ) end;

-- notation_messages: the printed messages in a text, as a JSON array; NULL when there are none.
create or replace temp macro notation_messages(value) as
    case when contains(value, 'ChatMessage(') then to_json(list_filter(
        list_transform(string_split(value, 'ChatMessage('), lambda m: notation_message('ChatMessage(' || m)),
        lambda m: m is not null
    )) end;
