// Updates the loading progress of the sample market until it is complete.

/** Dispatched on the document once the sample market is complete, if it was loading when the page was sent. */
export const marketLoaded = 'tapegraph-market-loaded';

const askEveryMs = 2000;

/** The loading state in `/healthz`. */
interface Health {
  loading?: { what: string; percent: number };
}

/** Keeps the note up to date, and removes it in the end. Retries while the server does not answer. */
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
