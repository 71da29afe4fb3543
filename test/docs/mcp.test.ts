import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerCharacters } from '../../src/mcp/results.ts';
import { listItems } from '../../src/mcp/tools.ts';
import { routes } from '../../src/rest/routes.ts';
import { proseOf } from '../support/prose.ts';

const text = readFileSync('docs/mcp.md', 'utf8');

describe('docs/mcp.md', () => {
  it('shows configurations that are JSON and name the address', () => {
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => JSON.parse(match[1]!));
    expect(blocks).toHaveLength(2);
    for (const { mcpServers, servers } of blocks) {
      expect((mcpServers ?? servers).tapegraph).toMatchObject({ type: 'http', url: 'http://127.0.0.1:4000/mcp' });
    }
  });

  it('names tools that there are, and the bounds that hold', () => {
    const names = routes.map(({ name }) => name.replaceAll('-', '_'));
    for (const name of ['quotes', 'gex_history', 'large_trades']) {
      expect(names).toContain(name);
      expect(text).toContain(`\`${name}\``);
    }
    const prose = proseOf('docs/mcp.md');
    expect(prose).toContain(`at most ${listItems.usual} items unless \`max_items\` (up to ${listItems.most})`);
    expect(prose).toContain(`at most ${answerCharacters.toLocaleString('en-US')} characters`);
  });
});
