import { CloseCode } from 'graphql-ws';
import protobuf from 'protobufjs';
import { closing as graphClosing } from '../../src/graphql/ws-endpoint.ts';
import { frameClosing } from '../../src/platform/http/websocket/websocket-connection.ts';
import { streamProtocolSource } from '../../src/rest/socket/control.ts';
import { closing as channelClosing } from '../../src/rest/socket/socket-endpoint.ts';
import { measureIn } from './entitlement.ts';
import { failureCodes, inner, isKnown } from './failure-codes.ts';
import type { FuzzRequest } from './request.ts';
import { sentText } from './socket-script.ts';
import type { Talked } from './socket-talk.ts';
import { mayRead, type Target } from './target.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came
type Json = any;

const frameType = protobuf.parse(streamProtocolSource).root.lookupType('tapegraph.stream.v2.Frame');

/** Codes that stand for a defect of the server; a server that is asked by this fuzzer is not shut down either. */
const defects: readonly number[] = [channelClosing.unexpected, graphClosing.unexpected, 1001, 1006];
const without = (codes: readonly number[]) => new Set(codes.filter((code) => !defects.includes(code)));
/** By which codes an endpoint closes. */
const closeCodes = {
  channel: without([...Object.values(channelClosing), ...Object.values(frameClosing)]),
  graph: without([
    ...Object.values(graphClosing),
    ...Object.values(frameClosing),
    CloseCode.BadRequest,
    CloseCode.SubprotocolNotAcceptable,
    CloseCode.SubscriberAlreadyExists,
    CloseCode.TooManyInitialisationRequests,
  ]),
};
/** Codes of the fuzzer's own close frames, which a server repeats. */
const repeated: ReadonlySet<number> = new Set([1000, 1001, 1005, 3000, 4999]);

const nackCodes: ReadonlySet<string> = new Set([...failureCodes, 'invalid_ticket']);

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 300);

/** Problem of an error message; null = none. */
function wrongError(message: Json, codes: ReadonlySet<string>, code: unknown): string | null {
  const isOdd = !codes.has(code as string) || typeof message.message !== 'string' || message.message === '';
  if (isOdd) return `an error of no known code: ${shown(message)}`;
  if (code === 'internal') return `an internal error: ${shown(message)}`;
  return inner.test(message.message) ? `an error that tells of the inside: ${shown(message)}` : null;
}

const channelOps: Readonly<Record<string, (message: Json) => string | null>> = {
  authed: () => null,
  ack: ({ id }) => (id === undefined ? 'an ack without an id' : null),
  nack: (message) => wrongError(message, nackCodes, message.code),
  pong: () => null,
  ping: () => null,
  bye: (message) => wrongError(message, failureCodes, message.code),
};

/** Problem of the messages of `/v2/ws`; null = none. */
function wrongChannel(target: Target, request: FuzzRequest, { texts, bytes }: Talked): string | null {
  const messages: Json[] = texts.map((text) => JSON.parse(text));
  for (const message of messages) {
    const wrong = channelOps[message.op] ? channelOps[message.op]!(message) : `an unknown message: ${shown(message)}`;
    if (wrong) return wrong;
  }
  const isIn = messages.some(({ op }) => op === 'authed');
  const other = messages.find(({ op }) => ['ack', 'pong'].includes(op));
  if (!isIn && (other || bytes.length > 0))
    return `${other ? shown(other) : 'a frame'} to a client that is not authenticated`;
  if (isIn && !isValid(target, request)) return `${request.credential} is authenticated`;
  for (const each of bytes) {
    const { symbol } = frameType.toObject(frameType.decode(each)) as { symbol: string };
    if (!sentText(request.socket!).toUpperCase().includes(symbol))
      return `a frame of ${symbol}, which nobody asked for`;
    if (!mayRead(target, request.credential, symbol)) return `${request.credential} reads ${symbol} in a frame`;
  }
  return null;
}

const isValid = ({ credentials }: Target, { credential }: FuzzRequest) =>
  credential !== null && credentials[credential]!.tier !== null;

/** The first symbol that a caller may not read in an object with a measure of the market; null = none. */
function restrictedSymbol(target: Target, credential: string | null, value: Json): string | null {
  if (value === null || typeof value !== 'object') return null;
  const { symbol } = value;
  const isRestricted = typeof symbol === 'string' && !mayRead(target, credential, symbol);
  if (isRestricted && measureIn(value)) return symbol;
  for (const each of Object.values(value)) {
    const below = restrictedSymbol(target, credential, each);
    if (below) return below;
  }
  return null;
}

function wrongErrors(errors: Json): string | null {
  if (!Array.isArray(errors) || errors.length === 0) return `errors that are none: ${shown(errors)}`;
  for (const error of errors) {
    if (!isKnown({ code: error.extensions?.code, message: error.message }))
      return `an error of no known code: ${shown(error)}`;
    const wrong = wrongError(error, failureCodes, error.extensions.code);
    if (wrong) return wrong;
  }
  return null;
}

/** Problem of an operation's result; null = none. */
function wrongResult(target: Target, { credential, socket }: FuzzRequest, { id, payload }: Json): string | null {
  const { data, errors } = payload;
  if (data === undefined && errors === undefined) return `a result that is none: ${shown(payload)}`;
  const wrong = errors === undefined ? null : wrongErrors(errors);
  if (wrong) return wrong;
  const about = socket!.about[id];
  const found = about && !mayRead(target, credential, about) ? measureIn(data) : null;
  if (found) return `${credential} reads ${about}: ${found} in ${shown(payload)}`;
  // Journals and watchlists name symbols too, and are their account's own.
  const isOwn = /"(trades?|journal\w*)"/i.test(JSON.stringify(data) ?? '');
  const symbol = isOwn ? null : restrictedSymbol(target, credential, data);
  return symbol ? `${credential} reads ${symbol} in ${shown(payload)}` : null;
}

const graphTypes: Readonly<Record<string, (target: Target, request: FuzzRequest, message: Json) => string | null>> = {
  connection_ack: (target, request) => (isValid(target, request) ? null : `${request.credential} is acknowledged`),
  ping: () => null,
  pong: () => null,
  next: wrongResult,
  error: (_target, _request, { payload }) => wrongErrors(payload),
  complete: () => null,
};

/** Problem of the messages of `/graphql`; null = none. */
function wrongGraph(target: Target, request: FuzzRequest, { texts, bytes }: Talked): string | null {
  if (bytes.length > 0) return 'a binary message';
  const sent = sentText(request.socket!);
  let isIn = false;
  for (const message of texts.map((text): Json => JSON.parse(text))) {
    const check = graphTypes[message.type];
    if (!check) return `an unknown message: ${shown(message)}`;
    isIn ||= message.type === 'connection_ack';
    const isOfOperation = 'id' in message;
    if (isOfOperation && !isIn) return `${shown(message)} before connection_ack`;
    if (isOfOperation && !sent.includes(JSON.stringify(message.id)))
      return `${shown(message)} for an id that nobody sent`;
    const wrong = check(target, request, message);
    if (wrong) return wrong;
  }
  return null;
}

/** Problem of a conversation over a WebSocket; null = none. */
export function wrongTalk(target: Target, request: FuzzRequest, talked: Talked): string | null {
  const { code, texts, missing } = talked;
  const { endpoint, ending } = request.socket!;
  if (missing) return `${request.path}: ${missing}`;
  const isRepeated =
    (ending === 'closed' || ending === 'refused' || ending === 'ended' || ending === 'left') && repeated.has(code!);
  if (code !== null && !isRepeated && !closeCodes[endpoint].has(code)) return `${request.path} closes with ${code}`;
  const credential = request.credential === null ? undefined : target.credentials[request.credential]?.text;
  if (credential && texts.some((text) => text.includes(credential))) return `${request.path} repeats the credential`;
  const wrong = endpoint === 'channel' ? wrongChannel(target, request, talked) : wrongGraph(target, request, talked);
  return wrong ? `${request.path}: ${wrong}` : null;
}
