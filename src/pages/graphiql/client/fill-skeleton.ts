// Runs when the frame is parsed: the frame shows the query and the tabs in the browser's storage, and the header
// follows the theme of GraphiQL's settings. Once that is painted, GraphiQL replaces it.
{
  const stored = (name: string) => localStorage.getItem(`graphiql:${name}`);

  const followTheme = () => {
    const theme = stored('theme');
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

  const { tabs = [], activeTabIndex = 0 } = JSON.parse(stored('tabState') ?? '{}') as {
    tabs?: { title?: string }[];
    activeTabIndex?: number;
  };
  // An address with a query creates a tab of its own.
  if (tabs.length > 0 && !new URL(location.href).searchParams.has('query')) {
    document.querySelector('#frame-query')!.textContent = stored('query');
    const list = document.querySelector('#frame-tabs')!;
    const first = list.firstElementChild!;
    list.replaceChildren(
      ...tabs.map(({ title }, index) => {
        const tab = first.cloneNode(true) as HTMLElement;
        tab.firstElementChild!.textContent = title ?? '';
        tab.classList.toggle('graphiql-tab-active', index === activeTabIndex);
        return tab;
      }),
    );
  }

  // GraphiQL's scripts block a phone for a second or two, during which nothing is painted.
  const addresses = document.currentScript!.dataset.scripts!.split(' ');
  const start = () => {
    for (const address of addresses.splice(0)) {
      const script = document.createElement('script');
      script.src = address;
      // In sequence.
      script.async = false;
      document.head.append(script);
    }
  };
  new PerformanceObserver(start).observe({ type: 'paint', buffered: true });
  // A hidden page is not painted.
  setTimeout(start, document.hidden ? 0 : 1000);
}
