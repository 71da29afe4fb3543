// Starts GraphiQL with what the page says.
{
  const options = JSON.parse(document.getElementById('graphiql-options')!.textContent!) as object;
  const page = window as unknown as {
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  page.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root')!, options);
}
