import { getNamedType, isListType, isNonNullType } from 'graphql';
import { type OptionContract, readOptionContractText } from '../../core/domain/chain/option-contract.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { type Needs, needsOf } from '../../schema/field-options.ts';
import { type KnownById, knownById } from '../../schema/node-id.ts';
import type { PlannedField } from './cost-plan.ts';

/** The symbol that a field is about, as its arguments or those above it name it. */
export type Subject = { symbol: string } | { contract: OptionContract };

/** Data that a field reads. */
export interface Read {
  needs: Needs;
  /** Null = unknown before the operation runs: a symbol of a list. */
  subject: Subject | null;
}

/** The subject of an object by the key of its id: a contract in it, or the ticker that it begins with. */
function subjectOfKey({ key, isMarket }: KnownById): Subject | null {
  const contract = readOptionContractText((isMarket ? /O:\w+/.exec(key)?.[0] : key) ?? '');
  if (contract) return { contract };
  const symbol = isMarket ? readTicker(key.split(':')[0]!) : null;
  return symbol === null ? null : { symbol };
}

function readOfId(id: unknown): Read | null {
  const found = typeof id === 'string' ? knownById(id) : null;
  return found && { needs: found.needs, subject: subjectOfKey(found) };
}

/** The symbol or contract that an argument names. */
function namedSubject({ field }: PlannedField, values: Readonly<Record<string, unknown>> | null): Subject | null {
  for (const { name, type } of field.args) {
    const value = values?.[name];
    if (value == null || isListType(isNonNullType(type) ? type.ofType : type)) continue;
    const { name: typeName } = getNamedType(type);
    if (typeName === 'Ticker') return { symbol: value as string };
    const contract = typeName === 'OptionContractId' ? readOptionContractText(String(value)) : null;
    if (contract) return { contract };
  }
  return null;
}

/** Ids of the objects that a field reads by their ids, or by what its extension `idsOf` makes ids of. */
function idsOf({ field }: PlannedField, values: Readonly<Record<string, unknown>> | null): readonly unknown[] {
  const { idsOf: read } = field.extensions as { idsOf?: (values: unknown) => readonly string[] };
  if (read) return values ? read(values) : [];
  if (!['Node', 'Refetchable'].includes(getNamedType(field.type).name)) return [];
  const { id, nodeId = id, ids = [nodeId] } = values ?? {};
  return ids as readonly unknown[];
}

/** Data that a field reads, and the subject of the fields below it. `above`: the subject of those above it. */
export function readsOf(
  planned: PlannedField,
  values: Readonly<Record<string, unknown>> | null,
  above: Subject | null,
): { reads: Read[]; subject: Subject | null } {
  const objects = idsOf(planned, values).flatMap((id) => readOfId(id) ?? []);
  if (objects.length > 0) return { reads: objects, subject: objects.length === 1 ? objects[0]!.subject : null };
  const subject = namedSubject(planned, values) ?? above;
  return { reads: [{ needs: needsOf(planned.field), subject }], subject };
}
