import { z } from 'zod';
import { classifications } from '../../../platform/config/tiers.ts';
import { fieldError, jsonBody } from '../../contract/body.ts';
import { route } from '../../contract/route.ts';

const path = '/v2/account/classification';
const absent = ['classification', 'submitted_at', 'locked'];

// Contract notes 3.
export const classification = route({
  path,
  summary: 'Market-data declaration',
  description: 'The market-data declaration of the account. Fields without a value are absent.',
  scopeGroup: 'account',
  reportsFlow: true,
  name: 'classification',
  operation: 'account/classification.graphql',
  graphql: '{ me { declaration { attested } } }',
  answer: 'me',
  absent,
  errors: [502],
});

const shape = z.object(
  { classification: z.enum(classifications, { error: fieldError(`one of ${classifications.join(', ')}`) }) },
  { error: 'expected an object {classification}' },
);

// Contract notes 3.
export const classify = route({
  method: 'POST',
  path,
  summary: 'Declare',
  description:
    'Declares the account professional or non-professional. Professional is final: a later declaration returns 200 with locked and changes nothing.',
  scopeGroup: 'account',
  reportsFlow: true,
  body: jsonBody(shape, { name: 'ClassificationInput', example: { classification: 'non_professional' } }),
  name: 'classify',
  operation: 'account/classify.graphql',
  graphql: 'mutation { classify(classification: non_professional) { declaration { attested } } }',
  example: { body: '{"classification":"non_professional"}' },
  hints: { destructive: true, idempotent: true },
  answer: 'classify',
  variables: { classification: (_values, body) => (body as z.output<typeof shape>).classification },
  absent,
  errors: [400, 413, 415, 502],
});
