// `node bench/dbn-reading.ts [PRINTS]`: CPU time of reading the same option prints as DBN and as CSV, in turns.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContractBook } from '../src/core/domain/chain/contract-book.ts';
import { instantBounds } from '../src/core/domain/instant-gate.ts';
import { readOptionTrades } from '../src/intake/tape/prints/option-trades.ts';
import { dbnFile, dbnSchemas, dbnTrade } from '../test/support/tapes/dbn-encoder.ts';

const prints = Number(process.argv[2] ?? 1_000_000);
const [contracts, rounds] = [500, 5];
const first = 1710509400123456789n;

const symbolOf = (contract: number) => `240419C${String(400_000 + contract * 1000).padStart(8, '0')}`;
const span = { from: 20240315, to: 20240316 };
const mappings = Array.from({ length: contracts }, (_, contract) => ({
  symbol: `SPY   ${symbolOf(contract)}`,
  spans: [{ ...span, instrument: contract }],
}));

/** Both files of the same prints, by contract, then time. */
function files(): { dbn: Buffer; csv: string } {
  const [records, lines] = [[] as Buffer[], ['ticker,conditions,correction,exchange,price,sip_timestamp,size']];
  for (let i = 0; i < prints; i++) {
    const [contract, at] = [Math.floor((i * contracts) / prints), first + BigInt(i) * 1_000_003n];
    const price = 1 + (i % 997) / 100;
    records.push(dbnTrade({ at, instrument: contract, price, size: 7, sequence: i }));
    lines.push(`O:SPY${symbolOf(contract)},,0,302,${price.toFixed(2)},${at},7`);
  }
  return { dbn: dbnFile({ schema: dbnSchemas.trades, mappings, records }), csv: `${lines.join('\n')}\n` };
}

async function cpuSeconds(path: string): Promise<number> {
  const bounds = instantBounds(Date.now());
  const onBadLine = ({ line, reason }: { line: number; reason: string }) => {
    throw new Error(`${line}: ${reason}`);
  };
  const start = process.cpuUsage();
  let count = 0;
  for await (const batch of readOptionTrades(path, { book: createContractBook(), bounds, onBadLine }))
    count += batch.length;
  const { user, system } = process.cpuUsage(start);
  if (count !== prints) throw new Error(`read ${count} of ${prints} prints`);
  return (user + system) / 1e6;
}

const folder = await mkdtemp(join(tmpdir(), 'tapegraph-bench-'));
try {
  const { dbn, csv } = files();
  const [dbnPath, csvPath] = [join(folder, 'prints.dbn'), join(folder, 'prints.csv')];
  await writeFile(dbnPath, dbn);
  await writeFile(csvPath, csv);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [ofCsv, ofDbn] = [await cpuSeconds(csvPath), await cpuSeconds(dbnPath)];
    ratios.push(ofDbn / ofCsv);
    console.log(`CSV ${ofCsv.toFixed(2)} s, DBN ${ofDbn.toFixed(2)} s, ratio ${(ofDbn / ofCsv).toFixed(2)}`);
  }
  console.log(`median ratio ${ratios.sort((a, b) => a - b)[rounds >> 1]!.toFixed(2)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
