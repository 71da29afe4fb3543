// `serve --sample` with a small market, in a process of its own: node small-sample.ts JSON, see `SmallSample`. Settings
// come from the environment.
import { clockFrom } from '../../../src/cli/io/options.ts';
import { Interrupted, type Terminal } from '../../../src/cli/io/terminal.ts';
import { runGateway } from '../../../src/cli/server/gateway.ts';
import type { SampleShape } from '../../../src/intake/sample/market/plan.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { openLog } from '../../../src/platform/observe/log.ts';
import { defaultMemory } from '../../../src/platform/runtime/memory-plan.ts';

/** Settings of the server. */
export interface SmallSample {
  /** Where its clock starts, epoch ms. */
  nowMs: number;
  shape: SampleShape;
}

const { nowMs, shape } = JSON.parse(process.argv[2]!) as SmallSample;
const interruption = new AbortController();
process.once('SIGTERM', () => interruption.abort(new Interrupted('SIGTERM')));
const { env, stdout, stderr } = process;
const terminal: Terminal = { env, now: Date.now, stdout, stderr, interrupted: interruption.signal };
const config = readConfig(env);
await runGateway(
  {
    terminal,
    config,
    part: { sample: true, alwaysOpen: false, isFirst: true, sampleShape: shape },
    endedBarsOnly: true,
    clock: clockFrom(nowMs, Date.now),
    log: openLog({ level: config.logLevel, secrets: [] }, stderr),
    memory: defaultMemory,
  },
  { onReady: ({ key }) => void stdout.write(`${JSON.stringify({ key })}\n`) },
);
