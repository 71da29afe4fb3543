import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { AssetTask } from './asset-thread.ts';

// Runs in a thread of its own, which ends when it has answered (asset-thread.ts).
async function read(task: AssetTask): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const encoder = new TextEncoder();
  if ('graphiql' in task) {
    const { js, css } = await import('@graphql-yoga/render-graphiql/graphiql');
    // Its fonts are nine tenths of its style sheet, in whose text they stand. It has those of the other pages.
    const texts = { js, css: css.replaceAll(/@font-face\s*\{[^}]*\}/g, '') };
    return new Map(task.graphiql.map((part) => [part, encoder.encode(texts[part])]));
  }
  const stripped = (file: string) => stripTypeScriptTypes(readFileSync(file, 'utf8'));
  return new Map(task.scripts.map((file) => [file, encoder.encode(stripped(file))]));
}

const texts = await read(workerData as AssetTask);
parentPort!.postMessage(
  texts,
  [...texts.values()].map(({ buffer }) => buffer),
);
