// Starts GraphiQL with what the page says, and gives its editor the URLs of its worker scripts.
{
  const written = (id: string) => JSON.parse(document.getElementById(id)!.textContent!) as Record<string, string>;
  const page = window as unknown as {
    MonacoEnvironment: { globalAPI: boolean; getWorkerUrl: (moduleId: string, label: string) => string | undefined };
    YogaGraphiQL: { renderYogaGraphiQL: (root: Element, options: object) => void };
  };
  const workers = written('graphiql-workers');
  page.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_moduleId, label) => workers[label] };
  page.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root')!, written('graphiql-options'));
}
