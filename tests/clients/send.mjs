// Sends a golden description with the exporters of OpenTelemetry JavaScript, as they are.
//
//     node send.mjs MODULES DESCRIPTION grpc|protobuf|json ENDPOINT plain|gzip
//
// MODULES is the folder that has `node_modules`, ENDPOINT is HOST:PORT. Ends with 1 when an export was not successful.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [modules, path, encoding, endpoint, compression] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { createTraceState } = require('@opentelemetry/api');
const { CompressionAlgorithm } = require('@opentelemetry/otlp-exporter-base');

const PER_EXPORT = 512;

// A golden value as JavaScript has it.
function plain([kind, content]) {
  switch (kind) {
    case 'int':
    case 'double':
      return { nan: NaN, inf: Infinity, '-inf': -Infinity }[content] ?? Number(content);
    case 'bytes':
      return new Uint8Array(Buffer.from(content, 'base64'));
    case 'array':
      return content.map(plain);
    case 'kvlist':
      return attributes(content);
    default:
      return content;
  }
}

function attributes(pairs) {
  return Object.fromEntries(pairs.map(([key, value]) => [key, plain(value)]));
}

// Seconds and nanoseconds.
function time(nanoseconds) {
  const exact = BigInt(nanoseconds);
  return [Number(exact / 1000000000n), Number(exact % 1000000000n)];
}

function context(item, spanId, isRemote) {
  return {
    traceId: item.trace_id,
    spanId,
    traceFlags: item.trace_flags ?? item.flags,
    isRemote,
    traceState: item.trace_state ? createTraceState(item.trace_state) : undefined,
  };
}

function spanOf(span, resources, scopes) {
  const own = context(span, span.span_id, false);
  return {
    name: span.name,
    kind: span.kind === 0 ? undefined : span.kind - 1,
    spanContext: () => own,
    parentSpanContext: span.parent_span_id ? context(span, span.parent_span_id, span.parent_is_remote) : undefined,
    startTime: time(span.start_time_unix_nano),
    endTime: time(span.end_time_unix_nano),
    status: { code: span.status.code, message: span.status.message || undefined },
    attributes: attributes(span.attributes),
    droppedAttributesCount: span.dropped_attributes_count,
    events: span.events.map(event => ({
      name: event.name,
      time: time(event.time_unix_nano),
      attributes: attributes(event.attributes),
      droppedAttributesCount: event.dropped_attributes_count,
    })),
    droppedEventsCount: span.dropped_events_count,
    links: span.links.map(link => ({
      context: context(link, link.span_id, link.is_remote),
      attributes: attributes(link.attributes),
      droppedAttributesCount: link.dropped_attributes_count,
    })),
    droppedLinksCount: span.dropped_links_count,
    resource: resources[span.resource],
    instrumentationScope: scopes[span.scope],
    ended: true,
  };
}

function logRecordOf(record, resources, scopes) {
  return {
    hrTime: time(record.time_unix_nano),
    hrTimeObserved: time(record.observed_time_unix_nano),
    severityNumber: record.severity_number,
    severityText: record.severity_text || undefined,
    eventName: record.event_name || undefined,
    body: plain(record.body),
    attributes: attributes(record.attributes),
    droppedAttributesCount: record.dropped_attributes_count,
    spanContext: record.trace_id ? context(record, record.span_id, false) : undefined,
    resource: resources[record.resource],
    instrumentationScope: scopes[record.scope],
  };
}

// An exporter of spans and one of log records.
function exporters() {
  const suffix = { grpc: 'grpc', protobuf: 'proto', json: 'http' }[encoding];
  const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${suffix}`);
  const { OTLPLogExporter } = require(`@opentelemetry/exporter-logs-otlp-${suffix}`);
  const how = compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE;
  const url = { grpc: ['', ''], protobuf: ['/v1/traces', '/v1/logs'] }[encoding] ?? ['/v1/traces', '/v1/logs'];
  return [
    new OTLPTraceExporter({ url: `http://${endpoint}${url[0]}`, compression: how }),
    new OTLPLogExporter({ url: `http://${endpoint}${url[1]}`, compression: how }),
  ];
}

const description = JSON.parse(readFileSync(path, 'utf8'));
const resources = description.resources.map(resource => ({
  attributes: attributes(resource.attributes),
  schemaUrl: resource.schema_url || undefined,
}));
const scopes = description.scopes.map(scope => ({
  name: scope.name,
  version: scope.version || undefined,
  schemaUrl: scope.schema_url || undefined,
  attributes: attributes(scope.attributes),
}));
const items = [
  description.spans.map(span => spanOf(span, resources, scopes)),
  description.log_records.map(record => logRecordOf(record, resources, scopes)),
];
for (const [n, exporter] of exporters().entries()) {
  for (let start = 0; start < items[n].length; start += PER_EXPORT) {
    const result = await new Promise(resolve => exporter.export(items[n].slice(start, start + PER_EXPORT), resolve));
    if (result.code !== 0) {
      console.error(result.error);
      process.exitCode = 1;
    }
  }
  await exporter.shutdown();
}
