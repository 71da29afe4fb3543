// Runs before GraphiQL does, and before its frame is drawn: what it finds in its storage is what it starts with, and
// its requests go out under the reader's key.
{
  const stored = (name: string) => localStorage.getItem(`graphiql:${name}`);
  const store = (name: string, value: string) => localStorage.setItem(`graphiql:${name}`, value);

  // The documentation is closed until somebody opens it: the query comes first.
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
  // Once GraphiQL has stored its tabs, shortly afterwards, the URL is reset, or a reload would undo what was edited.
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
