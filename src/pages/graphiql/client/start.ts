// Starts GraphiQL with what the page says.
{
  const options = JSON.parse(document.getElementById('graphiql-options')!.textContent!) as object;
  const page = window as unknown as {
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  // Its bundle would write each edit into the address, and an address's query over the tab that was open.
  history.pushState = () => {};
  const root = document.querySelector('#root')!;
  page.YogaGraphiQL.renderYogaGraphiQL(root, { ...options, query: undefined });

  // The fields that its editors write to have no names of their own.
  const nameFields = () => {
    for (const field of root.querySelectorAll('textarea:not([aria-label])')) {
      const name = field.closest('[aria-label]')?.getAttribute('aria-label') ?? 'Editor';
      field.setAttribute('aria-label', name);
    }
  };
  new MutationObserver(nameFields).observe(root, { childList: true, subtree: true });
  nameFields();
}
