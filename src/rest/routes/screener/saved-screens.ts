import { z } from 'zod';
import { figureOfRestName, savedScreenLimits } from '../../../core/domain/screener.ts';
import { fieldError, jsonBody } from '../../contract/body.ts';
import { cursor, jsonObject, opaqueId, positiveInt } from '../../contract/params.ts';
import { route } from '../../contract/route.ts';
import { invalidFilter, screenCursor } from './screen.ts';

export const screens = route({
  path: '/v2/screener/screens',
  summary: 'Saved screens',
  description: 'The saved screens of the account, oldest first.',
  scopeGroup: 'account',
  params: { limit: positiveInt.optional(), cursor: cursor(100, 'MS4xLkdJM2d0bHN6RW1Vcg').optional() },
  name: 'screens',
  operation: 'screener/screens.graphql',
  graphql: '{ screens { rows { id name where } } }',
  answer: 'screens',
  withoutTool: true,
  errors: [400, 502],
});

const order = z.object(
  {
    figure: z.enum([...figureOfRestName.keys()], { error: fieldError('the name of a figure') }),
    direction: z.enum(['asc', 'desc'], { error: 'expected asc or desc' }).default('desc'),
  },
  { error: 'expected an object {figure, direction}' },
);

// The operation checks what is in the filter, by the types of the graph.
const shape = z.object(
  {
    name: z.string({ error: fieldError('text') }),
    where: z
      .string({ error: fieldError('the filter as JSON, a text') })
      .pipe(jsonObject(savedScreenLimits.bytes, '{"changePct":{"lt":0}}')),
    order_by: order.nullish(),
  },
  { error: 'expected an object {name, where, order_by}' },
);

export const putScreen = route({
  method: 'PUT',
  path: '/v2/screener/screens/:id',
  summary: 'Create or replace a saved screen',
  description:
    'Saves a screen, replacing the one with this id. where is the filter as JSON, as /v2/screener/screen takes it. Names are unique within the account. A figure that the account may not read returns 403.',
  scopeGroup: 'account',
  params: { id: opaqueId },
  body: jsonBody(shape, {
    name: 'SavedScreenInput',
    example: { name: 'Falling', where: '{"changePct":{"lt":0}}', order_by: { figure: 'iv30', direction: 'desc' } },
  }),
  name: 'put-screen',
  operation: 'screener/put-screen.graphql',
  graphql:
    'mutation { putScreen(id: "falling", screen: { name: "Falling", where: { changePct: { lt: 0 } } }) { screen { id } } }',
  example: {
    params: { id: 'falling' },
    body: JSON.stringify({
      name: 'Falling',
      where: '{"changePct":{"lt":0}}',
      order_by: { figure: 'iv30', direction: 'desc' },
    }),
  },
  answer: 'putScreen',
  variables: {
    screen(_values, body) {
      const { name, where, order_by } = body as z.output<typeof shape>;
      const orderBy = order_by ? { ...order_by, figure: figureOfRestName.get(order_by.figure) } : null;
      return { name, where, orderBy };
    },
  },
  invalidVariables: (_variables, problem) => invalidFilter(problem),
  withoutTool: true,
  errors: [400, 403, 413, 415, 502],
});

export const deleteScreen = route({
  method: 'DELETE',
  path: '/v2/screener/screens/:id',
  summary: 'Delete a saved screen',
  description: 'Deletes a saved screen. 404 if the id is unknown.',
  scopeGroup: 'account',
  params: { id: opaqueId },
  name: 'delete-screen',
  operation: 'screener/delete-screen.graphql',
  graphql: 'mutation { deleteScreen(id: "{screen}") { deleted } }',
  example: { params: { id: '{screen}' } },
  answer: 'deleteScreen',
  withoutTool: true,
  errors: [404, 502],
});

export const screenResult = route({
  path: '/v2/screener/screens/:id/result',
  summary: 'Result of a saved screen',
  description:
    'The symbols that match a saved screen now, or at an instant; rows and meta as those of /v2/screener/screen. 403 if the screen uses figures that the account may no longer read. 404 if the id is unknown.',
  scopeGroup: 'market.screener',
  params: { id: opaqueId, limit: positiveInt.optional(), cursor: screenCursor },
  name: 'screen-result',
  operation: 'screener/screen-result.graphql',
  graphql: '{ screen(id: "{screen}") { name result { rows { symbol } meta { totalCount } } } }',
  example: { params: { id: '{screen}' } },
  instant: 'without known',
  isOwn: true,
  answer: 'screen.result',
  withoutTool: true,
  errors: [400, 403, 404, 502, 503],
});
