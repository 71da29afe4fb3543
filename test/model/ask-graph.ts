// Questions asked of the graph: several as one document, whose answers must be those that routes give.
import type { Answer, Json } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import type { Question } from './ask.ts';
import type { CallerName } from './gateway.ts';

/** Asks the graph; its body is a document's answer. */
export type AskGraph = (query: string, caller: CallerName) => Promise<Answer>;

/** A question in words of the graph. */
export interface InGraph {
  /** Fields, each below the one before; those of `asOf` come first. */
  fields: readonly string[];
  /** An answer with what to select, in the words of the routes. */
  example: Json;
  /** The list whose rows have no nulls in the answers of routes. */
  sparse?: string;
}

/** A field with those of its arguments that are not null. */
export function field(name: string, args: Readonly<Record<string, Json>>): string {
  const given = Object.entries(args).filter(([, value]) => value !== null);
  return given.length === 0 ? name : `${name}(${given.map(([key, value]) => `${key}: ${JSON.stringify(value)}`)})`;
}

/** Fields at an instant, and as known at one; null = now. */
export function inGraph(at: number | null, known: number | null, fields: readonly string[], example: Json): InGraph {
  const isNow = at === null && known === null;
  return { example, fields: isNow ? fields : [field('asOf', { at, known }), ...fields] };
}

/** Fields whose routes have other words than the same in camel case. */
const words: Record<string, string> = { data: 'rows', bars: 'rows', underlying: 'root', oi: 'openInterest' };
const wordOf = (key: string) => words[key] ?? key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function selection(example: Json): string {
  if (Array.isArray(example)) return example.length > 0 ? selection(example[0]) : '{ __typename }';
  if (example === null || typeof example !== 'object') return '';
  return `{ ${Object.entries(example).map(([key, value]) => `${key}: ${wordOf(key)} ${selection(value)}`)} }`;
}

const nameOf = (field: string) => field.split('(')[0]!;

/** The answer that a route would give, from a document's answer to the question of an alias. */
function answerOf({ fields, example, sparse }: InGraph, alias: string, answer: Answer): Answer {
  const { status, headers, bytes, body } = answer;
  const error = body.errors?.find(({ path }: Json) => !path || path[0] === alias);
  if (error) {
    const { code } = error.extensions;
    const refused = code === 'not_entitled_tier' || code === 'attestation_required';
    return { headers, bytes, status: refused ? 403 : 400, body: { error: { code, message: error.message } } };
  }
  const value = fields.slice(1).reduce((of, each) => of?.[nameOf(each)], body.data?.[alias]);
  const stated = (row: Json) => Object.fromEntries(Object.entries(row).filter(([, each]) => each !== null));
  if (sparse && value) value[sparse] = value[sparse].map(stated);
  return { headers, bytes, status, body: 'data' in example ? value : { data: value } };
}

/** A question's answer, and the document that had it. */
interface GraphAnswer {
  document: string;
  answer: Answer;
}

/** Asks questions of one caller by one document, by two if that is too large, or the first state of one. */
export async function askGraph(questions: readonly Question[], graph: AskGraph): Promise<GraphAnswer[]> {
  const asked = questions.map(({ graph: of }, i) => {
    const [first, ...others] = of!.fields;
    return `q${i}: ${[first, ...others].join(' { ')} ${selection(of!.example)} ${'} '.repeat(others.length)}`;
  });
  const document = `${questions[0]!.isFollowed ? 'subscription ' : ''}{ ${asked.join('\n')} }`;
  const answer = await graph(document, questions[0]!.caller);
  const isTooLarge = `${answer.body.errors?.[0].message}`.startsWith('The answer could have');
  if (!isTooLarge || questions.length === 1)
    return questions.map(({ graph: of }, i) => ({ document, answer: answerOf(of!, `q${i}`, answer) }));
  const half = Math.floor(questions.length / 2);
  return [...(await askGraph(questions.slice(0, half), graph)), ...(await askGraph(questions.slice(half), graph))];
}

/** More questions of the caller of one, for one document. */
export async function together(first: Question, next: () => Promise<Question>, random: Random): Promise<Question[]> {
  const all = [first];
  if (first.isFollowed) return all;
  for (let tries = random.below(10); tries > 0; tries--) {
    const other = await next();
    if (other.graph && !other.isFollowed && other.caller === first.caller) all.push(other);
  }
  return all;
}
