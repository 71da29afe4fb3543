import type { Command } from 'commander';
import { describeConfig } from '../../platform/config/printed-settings.ts';
import { printing, table } from './command-result.ts';
import { type CommonOptions, configOf, withCommonOptions, withExamples } from './options.ts';
import type { Terminal } from './terminal.ts';

function shown(value: string | number | string[] | null): string {
  if (value === null) return '(not set)';
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.join(',');
  return String(value);
}

/** `tapegraph config`: shows the settings in force, without secrets. */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('config')).summary('show the settings, without secrets');
  command.description('Shows the settings: environment variables, else defaults. Passwords and secrets are not shown.');
  withExamples(command, [
    ['config', 'the settings a server would use'],
    ['config --json', 'as one JSON object'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      async () => {
        const settings = describeConfig(configOf(terminal, command.opts<CommonOptions>()));
        return {
          json: settings,
          lines: table(
            ['SETTING', 'VALUE'],
            Object.entries(settings).map(([name, value]) => [name, shown(value)]),
          ),
        };
      },
    ),
  );
}
