import { curlCommand } from './client/curl.ts';

/** A request for code samples. */
export interface ShownRequest {
  method: string;
  /** Origin of the server, `http://127.0.0.1:4000`. */
  origin: string;
  /** Path and query. */
  address: string;
  body: string | null;
  contentType: string | null;
}

/** A code sample that sends a request. */
export interface Snippet {
  language: string;
  code: string;
}

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

function curl({ origin, address, ...rest }: ShownRequest): string {
  return curlCommand({ ...rest, url: origin + address, credential: null });
}

function javascript({ method, origin, address, body, contentType }: ShownRequest): string {
  const headers = [
    'authorization: `Bearer $' + '{process.env.KEY}`',
    ...(body === null ? [] : [`'content-type': '${contentType}'`]),
  ];
  return `const response = await fetch(${literal(origin + address)}, {
${method === 'GET' ? '' : `  method: '${method}',\n`}  headers: { ${headers.join(', ')} },
${body === null ? '' : `  body: ${literal(body)},\n`}});
const { data, meta, error } = await response.json();`;
}

function python({ method, origin, address, body, contentType }: ShownRequest): string {
  const type = body === null ? '' : `, "Content-Type": "${contentType}"`;
  return `import json, os, urllib.request

request = urllib.request.Request(
    ${literal(origin + address)},
${method === 'GET' ? '' : `    method="${method}",\n`}    headers={"Authorization": "Bearer " + os.environ["KEY"]${type}},
${body === null ? '' : `    data=${literal(body)}.encode(),\n`})
with urllib.request.urlopen(request) as response:
    answer = json.load(response)`;
}

/** Code samples of a request: for a shell, JavaScript and Python, with nothing to install. */
export function snippetsOf(request: ShownRequest): Snippet[] {
  return [
    { language: 'curl', code: curl(request) },
    { language: 'JavaScript', code: javascript(request) },
    { language: 'Python', code: python(request) },
  ];
}
