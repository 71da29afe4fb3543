/** Longest credential that is looked at, in characters. */
export const maxCredentialLength = 8192;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(',');
}

/**
 * The credential of a request, from its headers with lower-case names (as node gives them): `Authorization: Bearer <credential>`,
 * the scheme in any case, else `X-API-Key: <key>`. Null = none was sent. Never a query parameter: it would end in logs.
 */
export function credentialOf(headers: Headers): string | null {
  const bearer = /^bearer +(\S.*)$/i.exec(single(headers.authorization)?.trim() ?? '')?.[1];
  return bearer ?? (single(headers['x-api-key'])?.trim() || null);
}
