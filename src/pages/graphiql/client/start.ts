// Starts GraphiQL with what the page says.
{
  const options = JSON.parse(document.getElementById('graphiql-options')!.textContent!) as object;
  const page = window as unknown as {
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  // Its bundle would write each edit into the address, and an address's query over the tab that was open.
  history.pushState = () => {};
  page.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root')!, { ...options, query: undefined });
}
