import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../config/config.ts';
import { type Ended, note } from './requests.ts';
import type { Traces } from './tracing.ts';

/** Maximum time of one export of spans, ms; spans that the collector does not take in time are dropped. */
const exportTimeoutMs = 5000;
/** Maximum length of a statement's text in a span, in characters: long ones are lists of columns. */
const longestStatement = 2000;

/** Wraps the exporter, to log once when the collector cannot be reached and once when it can again. */
function watched(exporter: SpanExporter, log: (line: string) => void): SpanExporter {
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !failing)
          log(`warning: traces cannot be exported and are dropped (${result.error?.message ?? 'no reason given'})`);
        if (!failed && failing) log('traces are exported again');
        failing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush!() }),
  };
}

function providerOf({ url, headers, serviceName, ratio }: TraceSettings, version: string, log: (line: string) => void) {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs });
  const attributes = { 'service.name': serviceName, 'service.version': version };
  return new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: watched(exporter, log), exportTimeoutMillis: exportTimeoutMs + 1000 }),
    ],
  });
}

/** The caller's span that this request belongs to (W3C Trace Context); none if the header is absent or malformed. */
function callersContext({ headers: { traceparent } }: IncomingMessage): Context {
  const [, traceId, spanId, flags] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(typeof traceparent === 'string' ? traceparent : '') ??
    [];
  if (!traceId || !spanId || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** The requested path without the query, which may contain private values. */
const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0]!;

/** Attributes by the semantic conventions of OpenTelemetry for HTTP servers and for GraphQL. */
function endRequest(span: Span, { method, route, status, aborted, details }: Ended): void {
  const isKnown = route !== 'other';
  const verb = method === 'other' ? 'HTTP' : method;
  span.updateName(isKnown ? `${verb} ${route}` : verb);
  span.setAttributes({
    'http.request.method': method === 'other' ? '_OTHER' : method,
    ...(isKnown && { 'http.route': route }),
    'http.response.status_code': status,
    ...(details.code !== undefined && { 'error.type': details.code }),
    ...(details.cost !== undefined && { 'tapegraph.cost': details.cost }),
    ...(details.operation !== undefined && { 'graphql.operation.type': details.operation }),
    ...(details.operationName !== undefined && { 'graphql.operation.name': details.operationName }),
    ...(details.groups !== undefined && { 'tapegraph.groups': [...details.groups] }),
    ...(aborted && { 'tapegraph.aborted': true }),
  });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/**
 * Runs `work` in a span below the current one; without one, only `work`. Of an error only the kind is recorded: its
 * message may repeat values.
 */
function spanner(tracer: Tracer, current: AsyncLocalStorage<Span>) {
  return <T>(name: string, attributes: Attributes, work: () => T): T => {
    const parent = current.getStore();
    if (!parent?.isRecording()) return work();
    const span = tracer.startSpan(name, { attributes }, trace.setSpan(ROOT_CONTEXT, parent));
    const fail = (error: unknown) => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
      span.end();
    };
    try {
      const result = current.run(span, work);
      if (result instanceof Promise) result.then(() => span.end(), fail);
      else span.end();
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  };
}

/** Creates the traces of this process, and exports them every few seconds. */
export function createTraces(settings: TraceSettings, version: string, log: (line: string) => void): Traces {
  const provider = providerOf(settings, version, log);
  const tracer = provider.getTracer('tapegraph', version);
  const current = new AsyncLocalStorage<Span>();
  const spans = new WeakMap<IncomingMessage, Span>();
  return {
    requests(request) {
      const kind = SpanKind.SERVER;
      const attributes = { 'url.path': pathOf(request), 'url.scheme': 'http' };
      const span = tracer.startSpan('request', { kind, attributes }, callersContext(request));
      if (request.id !== undefined) span.setAttribute('tapegraph.request_id', request.id);
      spans.set(request, span);
      note(request, { traceId: span.spanContext().traceId });
      return (ended) => endRequest(span, ended);
    },
    within(request, work) {
      const span = spans.get(request);
      if (span) current.run(span, work);
      else work();
    },
    span: spanner(tracer, current),
    statement(text) {
      const parent = current.getStore();
      if (!parent?.isRecording()) return () => {};
      const verb = /^\s*(\w{1,10})/.exec(text)?.[1]?.toUpperCase() ?? 'statement';
      const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, longestStatement) };
      const options = { kind: SpanKind.CLIENT, attributes };
      const span = tracer.startSpan(verb, options, trace.setSpan(ROOT_CONTEXT, parent));
      return (failed) => {
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      };
    },
    close: () => provider.shutdown(),
  };
}
