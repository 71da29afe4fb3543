import type { RecordFields, SentFields } from '../../../core/domain/journal.ts';
import type { BodyReader } from '../../contract/body.ts';
import { cursor, opaqueId, positiveInt } from '../../contract/params.ts';
import { type Route, type RouteSettings, route } from '../../contract/route.ts';

/** Properties that differ between the routes of two kinds of records. */
type RouteText = Pick<Route, 'summary' | 'description' | 'graphql'> & { example?: Partial<Route['example']> };

/** The routes of one kind of records of the journal. */
interface RecordRoutes {
  /** For example `trade`: paths, operations and fields of the graph are named after it. */
  noun: 'account' | 'trade';
  /** Keys that are absent, not null, if unknown. */
  absent: readonly string[];
  fields: RecordFields<object>;
  body: BodyReader;
  patchBody: BodyReader;
  /** An example cursor of its list. */
  cursor: string;
  list: RouteText;
  create: RouteText;
  replace: RouteText;
  patch: RouteText;
  remove: RouteText & Pick<Route, 'errors'>;
}

const idPath = { id: opaqueId };

/** Properties of the routes of one kind that follow from its noun. */
function sharedOf({ noun, absent }: Pick<RecordRoutes, 'noun' | 'absent'>) {
  const path = `/v2/journal/${noun}s`;
  const name = `${noun[0]!.toUpperCase()}${noun.slice(1)}`;
  const common = { scopeGroup: 'journal', absent } as const;
  return {
    all: { ...common, path },
    one: { ...common, path: `${path}/:id`, params: idPath },
    list: { name: `journal-${noun}s`, operation: `journal/${noun}s.graphql`, answer: `journal${name}s` },
    named: (verb: string) => ({
      name: `${verb}-journal-${noun}`,
      operation: `journal/${verb}-${noun}.graphql`,
      answer: `${verb}Journal${name}`,
    }),
  };
}

/** The fields of a body without its id. */
function recordOf(fields: RecordFields<object>, sent: unknown): Record<string, unknown> {
  const { id: _id, ...record } = fields.graphInput(sent as SentFields);
  return record;
}

/** The fields of a body whose id does not count: the one in the path does. */
function fieldsOf(fields: RecordFields<object>, sent: unknown): Record<string, unknown> {
  return recordOf(fields, { ...(sent as SentFields), id: null });
}

/** The changes of a merge patch without an id: the id in the path counts. */
function changesOf(fields: RecordFields<object>, sent: unknown): Record<string, unknown> {
  const { id: _skipped, ...changes } = sent as SentFields;
  return fields.graphInput(changes, { isPatch: true });
}

/** Declares a list, and a route for each way to write a record (contract-notes 3). */
export function recordRoutes({ noun, absent, fields, ...of }: RecordRoutes): readonly RouteSettings[] {
  const { all, one, list, named } = sharedOf({ noun, absent });
  const params = { limit: positiveInt.optional(), cursor: cursor(1024, of.cursor).optional() };
  const errors = [400, 413, 415, 502];
  return [
    route({ ...all, ...list, ...of.list, params, errors: [400, 502] }),
    route({
      ...all,
      ...named('create'),
      ...of.create,
      method: 'POST',
      body: of.body,
      variables: {
        id: (_values, sent) => fields.graphInput(sent as SentFields).id,
        [noun]: (_values, sent) => recordOf(fields, sent),
      },
      errors,
    }),
    route({
      ...one,
      ...named('replace'),
      ...of.replace,
      method: 'PUT',
      body: of.body,
      variables: { [noun]: (_values, sent) => fieldsOf(fields, sent) },
      errors,
    }),
    route({
      ...one,
      ...named('patch'),
      ...of.patch,
      method: 'PATCH',
      body: of.patchBody,
      variables: { patch: (_values, sent) => changesOf(fields, sent) },
      errors: [400, 404, 413, 415, 502],
    }),
    route({ ...one, ...named('delete'), ...of.remove, method: 'DELETE' }),
  ];
}
