// Follows how much of the sample market is loaded, as the page says it, until all of it is there.

/** Is dispatched on the document once the sample market, which was loading when the page was sent, is whole. */
export const marketLoaded = 'tapegraph-market-loaded';

const askEveryMs = 2000;

/** The part of `/healthz` on it. */
interface Health {
  loading?: { what: string; percent: number };
}

/** Keeps the note up to date, and removes it in the end. A server that does not answer for a while is asked again. */
export function followMarketLoading(): void {
  const note = document.querySelector('#market-loading');
  if (!note) return;
  const ask = async () => {
    try {
      const { loading } = (await (await fetch('/healthz')).json()) as Health;
      if (!loading) {
        note.remove();
        document.dispatchEvent(new CustomEvent(marketLoaded));
        return;
      }
      note.textContent = `Loading the ${loading.what}: ${loading.percent}%.`;
    } catch {}
    setTimeout(ask, askEveryMs);
  };
  setTimeout(ask, askEveryMs);
}
