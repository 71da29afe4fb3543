// Runs before GraphiQL does: what it finds in its storage is what it starts with, and its requests go out under the reader's key.
{
  const kept = (name: string) => localStorage.getItem(`graphiql:${name}`);
  const keep = (name: string, value: string) => localStorage.setItem(`graphiql:${name}`, value);

  // The documentation is open until somebody closes it.
  if (kept('visiblePlugin') === null) keep('visiblePlugin', 'Documentation Explorer');

  // One theme for all pages: the header follows what is chosen in GraphiQL's settings.
  const chosen = localStorage.getItem('tapegraph-theme');
  if (chosen === 'light' || chosen === 'dark') keep('theme', chosen);
  const followTheme = () => {
    const theme = kept('theme');
    if (theme === 'light' || theme === 'dark') {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem('tapegraph-theme', theme);
    } else {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem('tapegraph-theme');
    }
  };
  followTheme();
  new MutationObserver(() => setTimeout(followTheme)).observe(document.body, { attributeFilter: ['class'] });

  // GraphiQL itself takes only the query from the address. Afterwards the address is plain again, or a reload would undo edits.
  const linked = new URL(location.href).searchParams;
  if (linked.has('query')) {
    keep('variables', linked.get('variables') ?? '');
    addEventListener('load', () => history.replaceState(null, '', location.pathname));
  }

  const send = window.fetch;
  window.fetch = (resource, init = {}) => {
    const headers = new Headers(init.headers ?? (resource instanceof Request ? resource.headers : undefined));
    const key = sessionStorage.getItem('tapegraph-key') ?? '';
    const url = new URL(resource instanceof Request ? resource.url : resource, location.href);
    if (key !== '' && url.origin === location.origin && !headers.has('authorization')) {
      headers.set('authorization', `Bearer ${key}`);
    }
    return send(resource, { ...init, headers });
  };
}
