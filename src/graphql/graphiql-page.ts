import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

type Render = typeof renderGraphiQL;

// The key is typed once for all tabs and kept for this browser tab only: session storage ends with it.
const keyBar = `
<style>
  body { display: flex; flex-direction: column; height: 100dvh; margin: 0; }
  #tapegraph-key { display: flex; gap: 10px; align-items: center; padding: 8px 16px 0; font: 14px system-ui, sans-serif; color: #59636e; }
  #tapegraph-key input { flex: 0 1 26rem; padding: 6px 10px; border: 1px solid #8886; border-radius: 6px; font: 13px ui-monospace, monospace; background: #fff; color: #1f2328; }
  #tapegraph-key input:placeholder-shown { border-color: #d60590; }
  #root { flex: 1; min-height: 0; height: auto !important; }
  #root .graphiql-container { height: 100%; }
</style>
<form id="tapegraph-key" autocomplete="off">
  <label for="tapegraph-key-input">API key</label>
  <input id="tapegraph-key-input" type="password" placeholder="paste a key to run queries" spellcheck="false" autocomplete="off">
</form>
<script>
  (() => {
    const input = document.getElementById('tapegraph-key-input');
    input.value = sessionStorage.getItem('tapegraph-key') ?? '';
    input.form.addEventListener('submit', (event) => event.preventDefault());
    input.addEventListener('input', () => sessionStorage.setItem('tapegraph-key', input.value.trim()));
    input.addEventListener('focus', () => { input.type = 'text'; });
    input.addEventListener('blur', () => { input.type = 'password'; });
    const send = window.fetch;
    window.fetch = (resource, init = {}) => {
      const headers = new Headers(init.headers ?? (resource instanceof Request ? resource.headers : undefined));
      const key = input.value.trim();
      const url = new URL(resource instanceof Request ? resource.url : resource, location.href);
      if (key && url.origin === location.origin && !headers.has('authorization')) headers.set('authorization', 'Bearer ' + key);
      return send(resource, { ...init, headers });
    };
  })();
</script>
`;

/** GraphiQL, whole in one page, with a place for the key. */
export const graphiqlPage: Render = (options) => {
  const page = renderGraphiQL(options);
  const body = page.indexOf('>', page.indexOf('<body')) + 1;
  return page.slice(0, body) + keyBar + page.slice(body);
};
