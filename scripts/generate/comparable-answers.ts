const hourMs = 3_600_000;

// ULIDs, API keys and the beginnings they are shown by, and what is hashed or random: entity tags, tickets.
const ids = /\b[0-9A-HJKMNP-TV-Z]{26}\b|\btg_live_[\w-]+|[\w-]{27,}/g;
const rates = /("(?:x-ratelimit-(?:remaining|reset)|retry-after|remaining)": )"?\d+"?/g;
// Written some seconds after the use.
const uses = /("last_used_at": )(?:null|\d+)/g;

/** Captured answers without what differs from one run to the next: ids, secrets, tags, rates, and times of the run. */
export function comparableAnswers(json: string, clock: string): string {
  const begunAt = Date.parse(clock);
  return JSON.stringify(JSON.parse(json), null, 1)
    .replaceAll(rates, '$1"…"')
    .replaceAll(uses, '$1"…"')
    .replaceAll(ids, '…')
    .replaceAll(/\b\d{13}\b/g, (time) => (Number(time) >= begunAt && Number(time) < begunAt + hourMs ? '…' : time));
}

/** The first line in which two texts differ, of each; null when none does. */
export function firstDifference(before: string, after: string): { before: string; after: string } | null {
  const [one, other] = [before.split('\n'), after.split('\n')];
  const at = Array.from({ length: Math.max(one.length, other.length) }).findIndex((_, i) => one[i] !== other[i]);
  return at < 0 ? null : { before: (one[at] ?? '').trim(), after: (other[at] ?? '').trim() };
}
