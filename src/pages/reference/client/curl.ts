// The curl command of a request: the reference shows it, and "Try it" keeps it up to date.

/** A request as curl sends it. */
export interface CurlRequest {
  method: string;
  /** The whole address. */
  url: string;
  /** The key or token, or what stands for it; null = the shell's variable KEY holds it. */
  credential: string | null;
  /** The media type asked for; null = the usual one. */
  accept?: string | null;
  body: string | null;
  /** Media type of the body. */
  contentType: string | null;
  /** The file that the answer is written to; null = it is printed. */
  output?: string | null;
}

/** Text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command, one option a line. */
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
