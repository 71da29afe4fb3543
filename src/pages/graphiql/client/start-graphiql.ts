// Starts GraphiQL with the page's options.
{
  const options = JSON.parse(document.getElementById('graphiql-options')!.textContent!) as object;
  const page = window as unknown as {
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  // GraphiQL's bundle would write each edit into the address, and an address's query over the open tab.
  history.pushState = () => {};
  const root = document.querySelector('#root')!;
  const guide = root.querySelector('.graphiql-doc-explorer')!;
  page.YogaGraphiQL.renderYogaGraphiQL(root, { ...options, query: undefined });

  // The fields of its editors have no accessible names.
  const nameFields = () => {
    for (const field of root.querySelectorAll('textarea:not([aria-label])')) {
      const name = field.closest('[aria-label]')?.getAttribute('aria-label') ?? 'Editor';
      field.setAttribute('aria-label', name);
    }
  };

  // Its tabs contain buttons, which elements with the role of a tab must not: they become a group, in which one button
  // is current.
  const groupTabs = () => {
    root.querySelector('.graphiql-tabs[role="tablist"]')?.setAttribute('role', 'group');
    root.querySelector('.graphiql-session[role="tabpanel"]')?.removeAttribute('role');
    for (const tab of root.querySelectorAll('.graphiql-tab[role="tab"]')) tab.setAttribute('role', 'none');
    const chosen = root.querySelector('.graphiql-tab[aria-selected="true"]');
    if (!chosen) return;
    for (const tab of root.querySelectorAll('.graphiql-tab')) {
      tab.removeAttribute('aria-selected');
      tab.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', String(tab === chosen));
    }
  };

  // The guide stays readable while the schema loads.
  const keepGuide = () => {
    const loading = root.querySelector('.graphiql-plugin:has(> .graphiql-doc-explorer .graphiql-spinner)');
    if (loading && guide.parentElement !== loading) loading.append(guide);
    else if (!loading && !guide.closest('.frame')) guide.remove();
  };

  // Makes the scrollable parts of its editors scrollable by keyboard.
  const reachEditors = () => {
    for (const area of root.querySelectorAll<HTMLElement>('.CodeMirror-scroll[tabindex="-1"]')) area.tabIndex = 0;
  };

  // Its documentation search names the Mac's keys and listens to no others.
  const isMac = /mac/i.test(navigator.platform);
  const searchField = () => root.querySelector<HTMLInputElement>('[data-cy="doc-explorer-input"]');
  const nameKeys = () => {
    const field = searchField();
    const keys = isMac ? '\u2318 K' : 'Ctrl K';
    if (field && field.placeholder !== keys) field.placeholder = keys;
  };
  document.addEventListener(
    'keydown',
    (event) => {
      if (!(isMac ? event.metaKey : event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      event.stopPropagation();
      if (!searchField()) root.querySelector<HTMLElement>('[aria-label="Show Documentation Explorer"]')?.click();
      whenThere(searchField, (field) => field.focus());
    },
    { capture: true },
  );

  /** Waits for an element that GraphiQL draws. */
  const whenThere = <Found extends Element>(find: () => Found | null, then: (found: Found) => void) => {
    const found = find();
    if (found) return then(found);
    const watch = new MutationObserver(() => {
      const drawn = find();
      if (!drawn) return;
      watch.disconnect();
      then(drawn);
    });
    watch.observe(root, { childList: true, subtree: true });
  };

  // An example opens in a tab of its own.
  const examples = JSON.parse(document.getElementById('graphiql-examples')!.textContent!) as string[];
  const menu = document.querySelector<HTMLSelectElement>('#examples')!;
  menu.addEventListener('change', () => {
    const query = examples[Number(menu.value)];
    const isChosen = menu.value !== '';
    menu.value = '';
    if (!isChosen || query === undefined) return;
    const tabs = () => root.querySelectorAll('.graphiql-tab').length;
    const before = tabs();
    root.querySelector<HTMLElement>('.graphiql-tab-add')?.click();
    const editor = () =>
      tabs() > before
        ? root.querySelector<Element & { CodeMirror: { setValue: (text: string) => void; focus: () => void } }>(
            '.graphiql-query-editor .CodeMirror',
          )
        : null;
    whenThere(editor, ({ CodeMirror }) => {
      CodeMirror.setValue(query);
      CodeMirror.focus();
    });
  });

  const amend = () => {
    nameKeys();
    nameFields();
    reachEditors();
    groupTabs();
    keepGuide();
  };
  new MutationObserver(amend).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-selected'] });
  amend();
}
