import type { Json, TestApp } from './app.ts';
import { talk } from './web-socket.ts';

/** A document and its variables; `variables` is JSON already where it could not be made by `JSON.stringify`. */
export interface SentDocument {
  query: string;
  variables: string;
  operationName?: string;
}

/** Answer to an operation. */
export interface GraphAnswer {
  /** HTTP status; null where the operation has none of its own. */
  status: number | null;
  bytes: number;
  text: string;
}

/** The methods of an application that sending uses. */
type GraphApp = Pick<TestApp, 'send' | 'url'>;

type Send = (app: GraphApp, credential: string, sent: SentDocument) => Promise<GraphAnswer>;

const bodyOf = ({ query, variables, operationName }: SentDocument) =>
  `{"query":${JSON.stringify(query)},"variables":${variables}${operationName === undefined ? '' : `,"operationName":${JSON.stringify(operationName)}`}}`;
const accept = 'application/json, text/event-stream';

async function posted(app: GraphApp, credential: string, path: string, body: string): Promise<GraphAnswer> {
  const { status, bytes } = await app.send('POST', path, { credential, headers: { accept }, body });
  return { status, bytes: bytes.length, text: bytes.toString() };
}

/** Says one operation on a connection of its own. */
async function socketAnswer(app: GraphApp, credential: string, sent: SentDocument): Promise<GraphAnswer> {
  const client = talk(`${app.url}/graphql`, ['graphql-transport-ws']);
  await client.open;
  const answered = Promise.withResolvers<string>();
  client.send({ type: 'connection_init', payload: { Authorization: `Bearer ${credential}` } });
  client.socket.on('message', (data: Buffer) => {
    const { type } = JSON.parse(String(data)) as Json;
    if (type === 'connection_ack') client.send(`{"type":"subscribe","id":"1","payload":${bodyOf(sent)}}`);
    else if (type === 'next' || type === 'error') answered.resolve(String(data));
  });
  void client.closed.then(({ code, reason }) => answered.resolve(JSON.stringify({ code, reason })));
  const text = await answered.promise;
  client.socket.close();
  return { status: null, bytes: text.length, text };
}

/** Ways to send an operation to the graph. */
export const graphTransports: Record<string, Send> = {
  'POST /graphql': (app, credential, sent) => posted(app, credential, '/graphql', bodyOf(sent)),
  'graphql-transport-ws': socketAnswer,
  'the graphql tool of /mcp': (app, credential, sent) =>
    posted(
      app,
      credential,
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graphql","arguments":${bodyOf(sent)}}}`,
    ),
};
