import type { Failure } from '../domain/failure.ts';
import { type Envelope, errorEnvelope } from '../rest/contract/envelope.ts';
import { bounded } from './bounded.ts';

/** What a tool answers. */
export interface ToolResult extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Characters of JSON in an answer: about fifteen thousand tokens. */
export const answerCharacters = 48_000;

const text = (value: string) => ({ type: 'text' as const, text: value });

/** An answer within what a model can take, and what was cut of it, so that the model can ask for less at a time. */
export function answered(answer: Envelope | object, maxItems: number): ToolResult {
  const { answer: shown, json, cuts } = bounded(answer, { items: maxItems, characters: answerCharacters });
  const lost = cuts.map(({ path, shown: items, of }) => `${path}: the first ${items} of ${of}`);
  return {
    content: [
      text(json),
      ...(lost.length > 0
        ? [text(`Truncated. ${lost.join('; ')}. Request a narrower window or fewer rows to see the others.`)]
        : []),
    ],
    structuredContent: shown as Record<string, unknown>,
  };
}

/** A failure as a tool's: the model gets the contract's error. */
export function failed(failure: Failure): ToolResult {
  const retry = failure.details?.retry_after_seconds;
  return {
    isError: true,
    content: [
      text(JSON.stringify(errorEnvelope(failure))),
      ...(retry === undefined ? [] : [text(`Retry in ${retry} seconds.`)]),
    ],
  };
}
