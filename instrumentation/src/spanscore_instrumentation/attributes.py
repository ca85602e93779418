"""The attribute names that are emitted, each spelt once.

`gen_ai.*` names are those of the GenAI semantic conventions of OpenTelemetry. Two are not in them: a handoff has no
agreed name yet, so the spelling that other instrumentations already write is used. All else that has no agreed name
starts with `spanscore.`.

Source: https://github.com/open-telemetry/semantic-conventions-genai
"""

from typing import Final

OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
ERROR_TYPE: Final = "error.type"

AGENT_NAME: Final = "gen_ai.agent.name"
AGENT_ID: Final = "gen_ai.agent.id"
AGENT_DESCRIPTION: Final = "gen_ai.agent.description"
AGENT_VERSION: Final = "gen_ai.agent.version"

INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"

REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
REQUEST_TOP_P: Final = "gen_ai.request.top_p"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
REQUEST_SEED: Final = "gen_ai.request.seed"
REQUEST_STREAM: Final = "gen_ai.request.stream"
RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
RESPONSE_TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"  # [s]

USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
USAGE_CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
# Named `cache_creation` until the conventions moved to their own repository, and still so in `opentelemetry.semconv`.
USAGE_CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_write.input_tokens"
USAGE_REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"

TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"

DATA_SOURCE_ID: Final = "gen_ai.data_source.id"
RETRIEVAL_QUERY_TEXT: Final = "gen_ai.retrieval.query.text"
RETRIEVAL_TOP_K: Final = "gen_ai.retrieval.top_k"
RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"

HANDOFF_FROM_AGENT: Final = "gen_ai.handoff.from_agent"
HANDOFF_TO_AGENT: Final = "gen_ai.handoff.to_agent"
HANDOFF_MODE: Final = "spanscore.handoff.mode"
HANDOFF_REASON: Final = "spanscore.handoff.reason"

EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
NOT_APPLICABLE_REASON: Final = "spanscore.evaluation.not_applicable_reason"

EXPERIMENT_ID: Final = "spanscore.experiment.id"
SUITE_NAME: Final = "spanscore.suite.name"
SUITE_VERSION: Final = "spanscore.suite.version"
CASE_ID: Final = "spanscore.case.id"
TRIAL: Final = "spanscore.trial"
VARIANT: Final = "spanscore.variant"

# Of a benchmark's case, for the agent to heed. The first two travel as baggage alone, and are written on no span.
FAULTS: Final = "spanscore.faults"
VARIANT_ASKED: Final = "spanscore.variant.asked"
FAULT_KIND: Final = "spanscore.fault.kind"
STEP_BUDGET: Final = "spanscore.budget.steps"
COST_BUDGET: Final = "spanscore.budget.cost_usd"
