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
