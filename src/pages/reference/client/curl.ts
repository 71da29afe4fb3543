// The curl command of a request: the reference shows it, and "Try it" updates it.

/** A request in curl's terms. */
interface CurlRequest {
  method: string;
  /** The whole address. */
  url: string;
  /** The key or token, or a placeholder; null = the shell's variable KEY. */
  credential: string | null;
  /** The requested media type; null = the default. */
  accept?: string | null;
  body: string | null;
  /** Media type of the body. */
  contentType: string | null;
  /** The output file; null = printed. */
  output?: string | null;
}

/** Text as one shell word. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command, one option per line. */
export function curlCommand({ method, url, credential, accept, body, contentType, output }: CurlRequest): string {
  const authorization =
    credential === null ? '"Authorization: Bearer $KEY"' : quoted(`Authorization: Bearer ${credential}`);
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} -H ${authorization}`,
    ...(accept ? [`-H ${quoted(`Accept: ${accept}`)}`] : []),
    ...(body === null ? [] : [`-H ${quoted(`Content-Type: ${contentType}`)}`, `--data-binary ${quoted(body)}`]),
    ...(output ? [`--output ${quoted(output)}`] : []),
    quoted(url),
  ].join(' \\\n  ');
}

/** Path and query of a request. Characters that need no encoding stay readable. */
export function addressOf(
  path: string,
  queryNames: readonly string[],
  params: Readonly<Record<string, string>>,
): string {
  const written = (text: string) => encodeURIComponent(text).replace(/%(2C|3A)/g, (code) => decodeURIComponent(code));
  const query = queryNames.flatMap((name) => (params[name] === undefined ? [] : [`${name}=${written(params[name])}`]));
  const filled = path.replace(/:(\w+)/g, (_, name: string) => written(params[name] ?? `{${name}}`));
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled;
}
