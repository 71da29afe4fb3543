import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { namesOneHost } from '../http/client-address.ts';
import { type Failure, notOneHost } from '../wire/failure.ts';
import type { Metrics } from './metrics.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** True if the header of a reader of metrics contains `token`, compared in constant time. */
function holdsToken(authorization: string | undefined, token: string): boolean {
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`));
}

function refuse(response: ServerResponse, status: number, message: string, headers: Failure['headers'] = {}): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.end(`${message}\n`);
}

/** Answers a request for metrics; with a `token`, only one that sends it as `Authorization: Bearer`. */
export async function sendMetrics(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  token: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (token !== null && !holdsToken(request.headers.authorization, token)) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    refuse(response, 401, 'Metrics require METRICS_TOKEN: Authorization: Bearer <token>.');
    return;
  }
  const text = await metrics.text();
  response.setHeader('Content-Type', metrics.contentType);
  response.setHeader('Cache-Control', 'no-store');
  response.end(text);
}

/** Handler of the metrics' port: `GET /metrics` only. */
export function answersOf(metrics: Pick<Metrics, 'text' | 'contentType'>, token: string | null): RequestListener {
  return (request, response) => {
    const { status, message, headers } = notOneHost();
    if (!namesOneHost(request)) refuse(response, status, message, headers);
    else if (request.url !== '/metrics') refuse(response, 404, 'Metrics are at /metrics.');
    else
      sendMetrics(metrics, token, request, response).catch((error: Error) => {
        refuse(response, 500, `Reading the metrics failed: ${error.message}`);
      });
  };
}
