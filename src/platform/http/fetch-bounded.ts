/**
 * Fetches an address and reads at most `maxBytes` of its body; throws if it is longer. The signal of `options` bounds
 * the time of both.
 */
export async function fetchBounded(address: string, options: RequestInit, maxBytes: number): Promise<Response> {
  const response = await fetch(address, options);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (length > maxBytes) throw new Error(`The answer of ${new URL(address).host} is longer than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Response(chunks.length > 0 ? Buffer.concat(chunks) : null, response);
}
