// Starts GraphiQL with what the page says.
{
  const options = JSON.parse(document.getElementById('graphiql-options')!.textContent!) as object;
  const page = window as unknown as {
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  // Its bundle would write each edit into the address, and an address's query over the tab that was open.
  history.pushState = () => {};
  const root = document.querySelector('#root')!;
  const guide = root.querySelector('.graphiql-doc-explorer')!;
  page.YogaGraphiQL.renderYogaGraphiQL(root, { ...options, query: undefined });

  // The fields that its editors write to have no names of their own.
  const nameFields = () => {
    for (const field of root.querySelectorAll('textarea:not([aria-label])')) {
      const name = field.closest('[aria-label]')?.getAttribute('aria-label') ?? 'Editor';
      field.setAttribute('aria-label', name);
    }
  };

  // Its tabs contain buttons, which elements with the role of a tab must not: they are made a group, in which one
  // button is current.
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

  // The guide can be read on while the schema is loaded.
  const keepGuide = () => {
    const loading = root.querySelector('.graphiql-plugin:has(> .graphiql-doc-explorer .graphiql-spinner)');
    if (loading && guide.parentElement !== loading) loading.append(guide);
    else if (!loading && !guide.closest('.frame')) guide.remove();
  };

  // What its editors scroll can be scrolled by keys alone.
  const reachEditors = () => {
    for (const area of root.querySelectorAll<HTMLElement>('.CodeMirror-scroll[tabindex="-1"]')) area.tabIndex = 0;
  };

  const amend = () => {
    nameFields();
    reachEditors();
    groupTabs();
    keepGuide();
  };
  new MutationObserver(amend).observe(root, { childList: true, subtree: true, attributeFilter: ['aria-selected'] });
  amend();
}
