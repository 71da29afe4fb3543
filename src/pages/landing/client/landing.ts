// The landing page's live part: a few quotes, under the reader's key or else the sample market's.
import '../../client/copy.ts';
import { askGraph } from '../../client/graph.ts';
import { onKeyChange, readKey, sampleKey, saveKey } from '../../client/key.ts';

interface Row {
  symbol: string;
  spot: number | null;
  changePct: number | null;
  sessionDate: string | null;
  node: { name: string; gex: { latest: { netGex: number; flipPoint: number | null } | null } | null } | null;
}

const query = `query LandingQuotes($symbols: [Ticker!]!) {
  quotes(symbols: $symbols) {
    rows { symbol spot changePct sessionDate node { name gex { latest(topStrikes: 1) { netGex flipPoint } } } }
  }
}`;
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

function line(className: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = className;
  element.textContent = text;
  return element;
}

function card({ symbol, spot, changePct, node }: Row): HTMLElement {
  const panel = document.createElement('a');
  panel.className = 'panel quote';
  panel.href = `/dashboard/${encodeURIComponent(symbol)}`;
  const ticker = document.createElement('b');
  ticker.textContent = symbol;
  const latest = node?.gex?.latest;
  panel.append(
    ticker,
    line('name', node?.name ?? ''),
    line('price', spot === null ? '–' : dollars.format(spot)),
    line(
      `small ${(changePct ?? 0) >= 0 ? 'up' : 'down'}`,
      changePct === null ? '' : `${percent.format(changePct)} % on the day`,
    ),
    line('small muted', latest ? `γ ${compact.format(latest.netGex)} per $1` : ''),
  );
  return panel;
}

async function showQuotes(): Promise<void> {
  const key = readKey() || sampleKey();
  if (key === '') return;
  const note = document.querySelector('#live-note')!;
  try {
    const { data, errors } = await askGraph<{ quotes: { rows: Row[] } }>(
      query,
      { symbols },
      { authorization: `Bearer ${key}` },
    );
    const rows = (data?.quotes?.rows ?? []).filter(({ spot }) => spot !== null);
    document.querySelector('#quotes')!.replaceChildren(...rows.map(card));
    const session = rows[0]?.sessionDate;
    note.textContent =
      rows.length > 0
        ? `Session of ${session}. γ is dealer gamma: dollars dealers trade to stay hedged when the price moves $1.`
        : (errors[0]?.message ?? 'No recent prices are stored.');
  } catch {
    note.textContent = 'The server does not answer. Trying again.';
  }
}

function showKeyInUse(): void {
  const button = document.querySelector<HTMLButtonElement>('#use-key');
  if (!button) return;
  const inUse = readKey() === sampleKey();
  button.disabled = inUse;
  button.textContent = inUse ? 'In use in this browser' : 'Use it in this browser';
}

document.querySelector('#use-key')?.addEventListener('click', () => saveKey(sampleKey()));
onKeyChange(() => {
  showKeyInUse();
  void showQuotes();
});
showKeyInUse();
void showQuotes();
setInterval(() => {
  if (document.visibilityState === 'visible') void showQuotes();
}, refreshMs);
