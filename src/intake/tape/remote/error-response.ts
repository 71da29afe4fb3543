import type { IncomingMessage } from 'node:http';
import { bodyText } from './get.ts';
import { ObjectError } from './object-address.ts';

const mostErrorBytes = 64 * 1024;

const usual: Record<number, string> = {
  401: 'not authorized (401)',
  403: 'access denied (403)',
  404: 'no such object (404)',
  412: 'it changed while it was read; ingest it again',
};

/**
 * The reason of a store's error, by its code if it has one, such as `NoSuchKey` and `SignatureDoesNotMatch`. Their
 * messages may repeat keys and signatures, and are omitted.
 */
export async function failureOf(answer: IncomingMessage, name: string): Promise<ObjectError> {
  const status = answer.statusCode!;
  const text = await bodyText(answer, mostErrorBytes).catch(() => '');
  const code = /<Code>([A-Za-z0-9.]{1,80})<\/Code>/.exec(text)?.[1];
  const region = answer.headers['x-amz-bucket-region'];
  const reason = usual[status] ?? `the server answered ${status}`;
  const parts = [code && status !== 412 ? `${reason}: ${code}` : reason];
  if (typeof region === 'string' && /^[a-z0-9-]+$/.test(region) && status >= 300 && status < 402)
    parts.push(`the bucket is in ${region}: set AWS_REGION`);
  return new ObjectError(name, parts.join('; '));
}
