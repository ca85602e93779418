-- Words that every emitter spells its own way, brought to one spelling.

-- finish_word: stop, length, tool_calls, content_filter, error, compaction; the emitter's word when it is none of these.
create or replace temp macro finish_word(value) as
    case
        when value is null then null
        when regexp_matches(lower(value), '(tool|function)[_.-]?(call|use)') then 'tool_calls'
        when regexp_matches(lower(value), 'length|max_?(output_)?tokens') then 'length'
        when regexp_matches(lower(value), 'content[_-]?filter|safety|refusal|prohibited') then 'content_filter'
        when regexp_matches(lower(value), 'malformed|error') then 'error'
        when regexp_matches(lower(value), 'compaction') then 'compaction'
        when regexp_matches(lower(value), 'stop|end_?turn|finish|complete') then 'stop'
        else lower(value)
    end;

-- name_key: a name reduced to what two spellings of it share: lower case, letters and digits only.
create or replace temp macro name_key(value) as regexp_replace(lower(value), '[^a-z0-9]+', '', 'g');

-- transfer_target: the agent that a tool's name says it hands over to; NULL for a tool that is not a transfer.
create or replace temp macro transfer_target(tool_name) as
    nullif(regexp_extract(tool_name,
        '(?i)^(?:handoff[-_.])?(?:transfer|hand_?off|delegate|switch)(?:_back)?_to_(?:agent_)?(.+)$', 1), '');

-- is_transfer_tool: the tool hands the conversation to another agent, named by the tool or in its arguments.
create or replace temp macro is_transfer_tool(tool_name) as
    regexp_matches(tool_name,
        '(?i)^(?:handoff[-_.])?(?:transfer|hand_?off|delegate|switch)(?:_back)?_to_[a-z0-9_.-]+$|^hand_?off(_conversation)?$');

-- is_delegation_tool: the tool asks another agent, named in its arguments, and waits for the answer.
create or replace temp macro is_delegation_tool(tool_name) as
    regexp_matches(tool_name, '(?i)^((delegate|assign)[ _](work|task)|ask[ _]question)[ _]to[ _](co-?worker|member|agent)$');

-- argument_target: the agent that the arguments of a transfer or delegation name.
create or replace temp macro argument_target(arguments) as
    list_filter(
        json_extract_string(as_json(arguments), ['$.agent_name', '$.to_agent', '$.coworker', '$.co_worker', '$.subagent_type',
            '$.target', '$.agent', '$.target_agent', '$.handoff_to', '$.recipient', '$.member_id', '$.agent_id']),
        lambda name: name is not null
    )[1];

-- asks_agent: the tool is named after the agent, or an argument of its call names the agent.
create or replace temp macro asks_agent(tool_name, arguments, agent_name) as
    contains(name_key(tool_name), name_key(agent_name)) or name_key(argument_target(arguments)) = name_key(agent_name);
