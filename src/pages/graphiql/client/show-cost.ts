// Shows what the query in the editor would cost, once the reader pauses: GraphiQL has no place for it of its own.
{
  /** Time without an edit after which the query is estimated, ms; a free key may ask once a second. */
  const pauseMs = 700;

  interface Price {
    points: number;
    requests: number;
  }
  interface Estimate {
    maximum: Price;
    expected: Price;
    minute: { limit: number; remaining: number | null } | null;
    refused: { path: string | null; code: string; message: string }[];
    fields: { path: string; maximum: Price; items?: { boundBy: string | null } }[];
  }
  interface Editor extends Element {
    CodeMirror?: { getValue: () => string; on: (event: 'change', listener: () => void) => void };
  }

  const shown = document.querySelector<HTMLElement>('#cost')!;
  const meter = shown.querySelector('meter')!;
  const text = shown.querySelector('output')!;
  const editor = (tool: string) => document.querySelector<Editor>(`#root ${tool} .CodeMirror`)?.CodeMirror;

  const requests = (count: number) => `${count} request${count === 1 ? '' : 's'}`;

  const show = ({ maximum, expected, minute, refused, fields }: Estimate) => {
    const most = minute ? Math.max(1, minute.limit / 10) : expected.requests;
    meter.max = most;
    meter.value = Math.min(most, expected.requests);
    const costliest = fields.toSorted((a, b) => b.maximum.points - a.maximum.points)[0];
    const [problem] = refused;
    text.textContent = problem
      ? problem.message
      : `${requests(expected.requests)} expected, at most ${maximum.requests}`;
    shown.classList.toggle('refused', problem !== undefined);
    shown.title = !problem && costliest ? `Costs most: ${costliest.path}${boundOf(costliest)}` : (problem?.path ?? '');
    // Without a key there is nothing to say: the header asks for one.
    shown.hidden = problem?.code === 'unauthenticated';
  };
  const boundOf = ({ items }: Estimate['fields'][number]) => (items?.boundBy ? `, bound by ${items.boundBy}` : '');

  let asked = new AbortController();
  const ask = async () => {
    asked.abort();
    asked = new AbortController();
    const query = editor('.graphiql-query-editor')?.getValue() ?? '';
    const variables = editor('.graphiql-editor-tool')?.getValue() || '{}';
    if (query.trim() === '') {
      shown.hidden = true;
      return;
    }
    try {
      const body = `{"query":${JSON.stringify(query)},"variables":${JSON.stringify(JSON.parse(variables))}}`;
      const answer = await fetch('/graphql?cost', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: asked.signal,
      });
      if (answer.ok) show((await answer.json()) as Estimate);
      else shown.hidden = true;
    } catch {
      // A newer edit, variables that are not JSON yet, or no connection.
    }
  };

  let pause = 0;
  const askSoon = () => {
    clearTimeout(pause);
    pause = window.setTimeout(ask, pauseMs);
  };

  const heard = new WeakSet<object>();
  const listen = () => {
    for (const tool of ['.graphiql-query-editor', '.graphiql-editor-tool']) {
      const found = editor(tool);
      if (!found || heard.has(found)) continue;
      heard.add(found);
      found.on('change', askSoon);
      askSoon();
    }
  };
  new MutationObserver(listen).observe(document.querySelector('#root')!, { childList: true, subtree: true });
  listen();
}
