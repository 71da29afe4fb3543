/** Thrown for a remote object that cannot be read; `message` begins with its name and contains no secret. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError';

  constructor(object: string, reason: string, options?: ErrorOptions) {
    super(`${object}: ${reason}`, options);
  }
}

/** True for the address of a remote object: `s3://`, `https://`, `http://`. */
export function isRemote(name: string): boolean {
  return /^(s3|https?):\/\//i.test(name);
}

/** The address without secrets: presigned URLs have one in their query, others a password before the host. */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** True for an address of this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** An object in a bucket. */
export interface BucketKey {
  bucket: string;
  key: string;
}

/** Throws `ObjectError` for an object whose URL would be that of another one: `a/../b` is sent as `b`. */
export function requireOwnUrl(name: string, { bucket, key }: BucketKey): void {
  if ([bucket, ...key.split('/')].some((part) => part === '.' || part === '..'))
    throw new ObjectError(name, 'expected a bucket and a key without "." and ".." between slashes');
}

/** Splits `s3://bucket/key`. Throws `ObjectError`. */
export function bucketKey(name: string): BucketKey {
  const [, bucket, key] = /^s3:\/\/([^/?*]+)\/(.*)$/is.exec(name) ?? [];
  if (bucket === undefined || key === undefined) throw new ObjectError(name, 'expected s3://bucket/key');
  requireOwnUrl(name, { bucket, key });
  return { bucket, key };
}
