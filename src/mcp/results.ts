import type { Failure } from '../platform/wire/failure.ts';
import { type Envelope, errorEnvelope } from '../rest/contract/envelope.ts';
import { bounded } from './bounded.ts';
import type { Cut } from './selected-items.ts';
import { listItems } from './tools.ts';

/** Answer of a tool. */
export interface ToolResult extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Characters of JSON in an answer: about fifteen thousand tokens. */
export const answerCharacters = 48_000;

const text = (value: string) => ({ type: 'text' as const, text: value });

const cutTexts: Record<Cut['which'], (shown: number, of: number) => string> = {
  first: (shown, of) => `the first ${shown} of ${of}`,
  newest: (shown, of) => `the newest ${shown} of ${of}`,
  strikes: (shown, of) => `the ${shown} of ${of} nearest the spot`,
  ranked: (shown, of) => `the ${shown} highest ranked of ${of}`,
};

/** Describes the omitted items, and how to get them. */
function cutNote(cuts: readonly Cut[], maxItems: number): string {
  const lost = cuts.map(({ path, shown, of, which }) => `${path}: ${cutTexts[which](shown, of)}`);
  const isTooLong = cuts.some(({ shown }) => shown < maxItems);
  const more = isTooLong
    ? `An answer has at most ${answerCharacters.toLocaleString('en-US')} characters, so there are fewer items than max_items allows. Request a narrower window, or fewer fields.`
    : `Set max_items (at most ${listItems.most}) to see more, or request a narrower window.`;
  return `Truncated. ${lost.join('; ')}. ${more}`;
}

/**
 * Fits an answer into the limits of a model, and reports what was cut, so that the model can ask for less at a time.
 * `readSpot` finds the price around which to select strikes, dollars, if the answer has none; null = unknown.
 */
export async function answered(
  answer: Envelope | object,
  maxItems: number,
  readSpot: () => Promise<number | null> = async () => null,
): Promise<ToolResult> {
  const within = (spot: number | null) => bounded(answer, { items: maxItems, characters: answerCharacters, spot });
  let shown = within(null);
  if (shown.lacksSpot) {
    const spot = await readSpot();
    if (spot !== null) shown = within(spot);
  }
  const { answer: cut, json, cuts } = shown;
  return {
    content: [text(json), ...(cuts.length > 0 ? [text(cutNote(cuts, maxItems))] : [])],
    structuredContent: cut as Record<string, unknown>,
  };
}

/** A failure as the result of a tool: the model gets the contract's error. */
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
