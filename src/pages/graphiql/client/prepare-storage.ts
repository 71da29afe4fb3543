// Runs before GraphiQL does, and before its frame is drawn: GraphiQL starts with the content of its storage, and sends
// the reader's key with its requests.
{
  const stored = (name: string) => localStorage.getItem(`graphiql:${name}`);
  const store = (name: string, value: string) => localStorage.setItem(`graphiql:${name}`, value);

  // The documentation is closed by default: the query is more important.
  document.documentElement.dataset.docs = stored('visiblePlugin') === 'Documentation Explorer' ? 'open' : 'closed';

  // One theme for all pages.
  const chosen = localStorage.getItem('tapegraph-theme');
  if (chosen === 'light' || chosen === 'dark') store('theme', chosen);

  // GraphiQL opens the tab with the query and variables in its storage, and creates an empty tab if there is none. They
  // are those of the URL if it has an operation (GraphiQL itself reads only the query from it), else those of the tab
  // that was open.
  const linked = new URL(location.href).searchParams;
  const { tabs = [], activeTabIndex = 0 } = JSON.parse(stored('tabState') ?? '{}') as {
    tabs?: { query?: string | null; variables?: string | null }[];
    activeTabIndex?: number;
  };
  const shown = linked.has('query')
    ? { query: linked.get('query'), variables: linked.get('variables') }
    : tabs[activeTabIndex];
  if (shown) {
    store('query', shown.query ?? '');
    store('variables', shown.variables ?? '');
  }
  // The URL is reset shortly after GraphiQL has stored its tabs; otherwise a reload would undo edits.
  if (linked.has('query')) {
    const before = stored('tabState');
    const timer = setInterval(() => {
      if (stored('tabState') === before) return;
      clearInterval(timer);
      history.replaceState(null, '', location.pathname);
    }, 100);
  }

  const send = window.fetch;
  window.fetch = (resource, init = {}) => {
    const headers = new Headers(init.headers ?? (resource instanceof Request ? resource.headers : undefined));
    const key = localStorage.getItem('tapegraph-key') ?? '';
    const url = new URL(resource instanceof Request ? resource.url : resource, location.href);
    if (key !== '' && url.origin === location.origin && !headers.has('authorization')) {
      headers.set('authorization', `Bearer ${key}`);
    }
    return send(resource, { ...init, headers });
  };
}
