import { Position, Tallies, WrittenData } from '../../src/graphql/execution/leaf-tally.ts';
import { WrittenJson } from '../../src/platform/wire/json-chunks.ts';

function count(value: unknown, position: Position, tallies: Tallies): void {
  if (value === null || value === undefined) return;
  const tally = tallies.at(position);
  if (Array.isArray(value)) {
    tally.items += value.length;
    tally.count += value.length;
    for (const item of value) if (typeof item === 'object') countFields(item, position, tallies);
    return;
  }
  tally.count++;
  if (typeof value === 'string') tally.characters += value.length;
  if (typeof value === 'object') countFields(value, position, tallies);
}

function countFields(object: object | null, position: Position, tallies: Tallies): void {
  for (const [key, value] of Object.entries(object ?? {})) count(value, position.at(key), tallies);
}

/** An answer's data with its counts, which are made of the values instead of while they are written. */
export function countedData(data: object): WrittenData {
  const root = new Position();
  const tallies = new Tallies();
  countFields(data, root, tallies);
  return new WrittenData(new WrittenJson([JSON.stringify(data)]), root, tallies);
}
