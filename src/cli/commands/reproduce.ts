import { type Command, InvalidArgumentError } from 'commander';
import { methodologySettings, methodologyVersion } from '../../core/analytics/methodology.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import type { CaptureName, Reproduction } from '../../intake/ingest/recompute/reproduce.ts';
import { type CommandResult, printing } from '../io/command-result.ts';
import { type CommonOptions, rateOption, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

/** Differences that are listed for people. */
const mostListed = 20;

/** A capture by its global id in the graph, or as `SYMBOL:EPOCH_MS`. Throws `InvalidArgumentError`. */
function captureName(text: string): CaptureName {
  const decoded = Buffer.from(text, 'base64url').toString();
  const key = decoded.startsWith('GexCapture:') ? decoded.slice('GexCapture:'.length) : text;
  const [, symbol = '', ms = ''] = /^([^:]+):(\d{1,15})(?::.*)?$/.exec(key) ?? [];
  const underlying = readTicker(symbol);
  if (underlying === null || ms === '')
    throw new InvalidArgumentError(
      'Expected the id of a GexCapture, or a symbol and an epoch time: SPX:1794841200000.',
    );
  return { underlying, capturedAt: Number(ms) };
}

function wordsOf(found: Reproduction): string {
  const { status, figures, differences, productVersion, methodologyVersion: version } = found;
  if (status === 'absent') return 'no GEX capture of this time is stored';
  if (status === 'equal') return `equal: ${figures.toLocaleString('en-US')} figures have the stored bits`;
  const counts = `${differences.length} of ${figures} figures`;
  if (status === 'different') return `different: ${counts} are not what is stored`;
  if (status === 'other inputs')
    return `${counts} differ: the rates, dividends or roots that are stored now are not those that it was priced with`;
  const release = productVersion === null ? 'a release' : `release ${productVersion}`;
  return `methodology ${version} computed it, this release has ${methodologyVersion}: ${release} of that methodology can compute it again`;
}

function resultOf(found: Reproduction): CommandResult {
  const { underlying, capturedAt, status, figures, differences, methodologyVersion: version, productVersion } = found;
  const name = `${underlying} ${new Date(capturedAt).toISOString()}`;
  const listed = differences.slice(0, mostListed);
  const more = differences.length - listed.length;
  return {
    json: {
      symbol: underlying,
      captured_at: capturedAt,
      status,
      methodology_version: version,
      product_version: productVersion,
      figures,
      differences,
    },
    lines: [
      `${name}  ${wordsOf(found)}`,
      ...listed.map(({ figure, stored, computed }) => `  ${figure}: stored ${stored}, computed ${computed}`),
      ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
    ],
    failed: status !== 'equal',
  };
}

/** `tapegraph reproduce`: a stored capture computed again and compared. */
export function addReproduceCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('reproduce'))
    .summary('compute a GEX capture again and compare it with the stored one')
    .description(
      'Computes a GEX capture again from its stored quotes, rates, dividends and roots, with the same code, and compares every figure with the stored one, bit by bit. ' +
        'Changes nothing. Fails unless all are equal. A capture of another version of the methodology is not computed: the output names the release that can.',
    )
    .argument('<capture>', 'id of a GexCapture in the graph, or SYMBOL:EPOCH_MS', captureName)
    .addOption(rateOption());
  withExamples(command, [
    ['reproduce SPX:1794841200000', 'are the figures of this capture what its quotes give?'],
    ['reproduce R2V4Q2FwdHVyZTpTUFg6MTc5NDg0MTIwMDAwMDpuZXQ6YWxs --json', 'by its id, as a report for scripts'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      async (name: CaptureName) => {
        const options = command.opts<CommonOptions & { rate?: number }>();
        const { reproduce } = await import('../../intake/ingest/recompute/reproduce.ts');
        const rate = options.rate ?? methodologySettings.usualRate;
        return resultOf(await withStore(terminal, options, (store) => reproduce(store, name, rate)));
      },
    ),
  );
}
