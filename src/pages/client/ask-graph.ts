// One request to the graph, with the reader's key.
import { pageDocuments } from './documents.ts';
import { keyHeaders } from './stored-key.ts';

/** An answer of the graph: its data, and the messages of its errors. */
export interface GraphAnswer<T> {
  data: T | null;
  errors: { message: string; code: string }[];
}

/**
 * Sends one of the pages' documents to the graph. Headers other than the reader's key may be added. Throws if the
 * server cannot be reached.
 */
export async function askGraph<T>(
  document: keyof typeof pageDocuments,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = keyHeaders(),
): Promise<GraphAnswer<T>> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ query: pageDocuments[document], variables }),
  });
  const answer = (await response.json()) as {
    data?: T | null;
    errors?: { message: string; extensions?: { code?: string } }[];
  };
  const errors = (answer.errors ?? []).map(({ message, extensions }) => ({
    message,
    code: extensions?.code ?? 'internal',
  }));
  return { data: answer.data ?? null, errors };
}
