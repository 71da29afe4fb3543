import { invalidParameter } from '../platform/wire/failure.ts';
import { numberText } from '../platform/wire/number-text.ts';
import type { Route } from '../rest/contract/route.ts';
import { listItems } from './tools.ts';

/** A tool's arguments in the form that its route takes. */
export interface ToolArguments {
  texts: Record<string, string>;
  body: Buffer | null;
  maxItems: number;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  // Models send arrays for lists, even if the schema asks for a string.
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  throw invalidParameter(name, 'expected text, a number, or true or false');
}

function maxItemsOf(value: unknown): number {
  if (value === undefined || value === null) return listItems.usual;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > listItems.most)
    throw invalidParameter('max_items', `expected a whole number from 1 to ${listItems.most}`);
  return value as number;
}

function bodyOf(value: unknown): Buffer | null {
  if (value === undefined || value === null) return null;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * Reads a tool's arguments. 400 names the invalid one; an unknown argument is an error too, so that a model learns of
 * it.
 */
export function toolArguments(route: Route, sent: Record<string, unknown>): ToolArguments {
  const known = [...Object.keys(route.pathParams), ...Object.keys(route.queryParams)];
  const others = ['max_items', ...(route.body ? ['body'] : [])];
  for (const name of Object.keys(sent)) {
    if (!known.includes(name) && !others.includes(name))
      throw invalidParameter(
        name,
        `is not an argument of this tool; expected one of ${[...known, ...others].join(', ')}`,
      );
  }
  const texts = Object.fromEntries(
    known.flatMap((name) =>
      sent[name] === undefined || sent[name] === null ? [] : [[name, textOf(name, sent[name])]],
    ),
  );
  return { texts, body: bodyOf(sent.body), maxItems: maxItemsOf(sent.max_items) };
}
