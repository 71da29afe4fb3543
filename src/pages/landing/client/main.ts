// The landing page's live part: a few quotes, with the reader's key or else the sample market's.
import '../../client/copy.ts';
import { askGraph } from '../../client/ask-graph.ts';
import { onKeyChange, readKey, sampleKey } from '../../client/stored-key.ts';
import '../../client/use-sample-key.ts';

interface Row {
  symbol: string;
  spot: number | null;
  changePct: number | null;
  sessionDate: string | null;
  eventTsMs: number | null;
  node: { name: string; gex: { grid: { netGex: number | null; meta: { date: string } } | null } | null } | null;
}

const symbols = [...document.querySelectorAll<HTMLElement>('#quotes [data-symbol]')].map(
  ({ dataset }) => dataset.symbol!,
);
const refreshMs = 15_000;

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumFractionDigits: 1,
  style: 'currency',
  currency: 'USD',
  signDisplay: 'always',
});
const percent = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2, signDisplay: 'always' });

const day = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  year: 'numeric',
});
const clock = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const dateText = (iso: string) => day.format(Date.parse(`${iso}T00:00:00Z`));
/** A number's text with a typographic minus sign. */
const signed = (text: string) => text.replace('-', '\u2212');

function line(className: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = className;
  element.textContent = text;
  return element;
}

/** The net of the latest capture without expiries that have settled, as the first request on the page has it. */
const netGexOf = (node: Row['node']) => node?.gex?.grid?.netGex ?? null;

function card({ symbol, spot, changePct, sessionDate, node }: Row): HTMLElement {
  const panel = document.createElement('a');
  panel.className = 'panel quote';
  panel.href = `/dashboard/${encodeURIComponent(symbol)}`;
  const ticker = document.createElement('b');
  ticker.textContent = symbol;
  const netGex = netGexOf(node);
  const gammaDate = node?.gex?.grid?.meta.date;
  const gammaDay = gammaDate && gammaDate !== sessionDate ? ` (${dateText(gammaDate)})` : '';
  panel.append(
    ticker,
    line('name', node?.name ?? ''),
    line('price', spot === null ? 'No price' : dollars.format(spot)),
    line(
      `small ${(changePct ?? 0) >= 0 ? 'up' : 'down'}`,
      changePct === null ? '' : `${signed(percent.format(changePct))}%`,
    ),
    line('small muted', netGex === null ? '' : `Net GEX ${signed(compact.format(netGex))}${gammaDay}`),
  );
  return panel;
}

/** Note on the time of the prices, and on the meaning of net GEX. */
function noteOf(rows: readonly Row[]): string {
  const [session = null] = rows
    .map(({ sessionDate }) => sessionDate)
    .sort()
    .reverse();
  const lastMs = Math.max(...rows.map(({ eventTsMs }) => eventTsMs ?? 0));
  const time = lastMs > 0 ? `, ${clock.format(lastMs)} New York time` : '';
  const of = session === null ? '' : `Session of ${dateText(session)}${time}. `;
  return `${of}Changes are from the previous close. Net GEX: dollars dealers trade to stay hedged when the price moves $1.`;
}

async function showQuotes(): Promise<void> {
  const key = readKey() || sampleKey();
  // An empty store has none to show.
  if (key === '' || symbols.length === 0) return;
  const note = document.querySelector('#live-note')!;
  try {
    const { data, errors } = await askGraph<{ quotes: { rows: Row[] } }>(
      'landingQuotes',
      { symbols },
      { authorization: `Bearer ${key}` },
    );
    // A symbol without a price may have gamma, if only its chain is stored.
    const rows = (data?.quotes?.rows ?? []).filter(({ spot, node }) => spot !== null || netGexOf(node) !== null);
    document.querySelector('#quotes')!.replaceChildren(...rows.map(card));
    note.textContent = rows.length > 0 ? noteOf(rows) : (errors[0]?.message ?? 'No recent prices are stored.');
  } catch {
    note.textContent = 'The server does not answer. Trying again.';
  }
}

onKeyChange(() => void showQuotes());
void showQuotes();
setInterval(() => {
  if (document.visibilityState === 'visible') void showQuotes();
}, refreshMs);
