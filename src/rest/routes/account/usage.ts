import { route } from '../../contract/route.ts';

// Spec 4.4.
export const accountUsage = route({
  path: '/v2/account/usage',
  summary: 'Usage',
  description:
    'Requests of the last 30 days by scope group, without this one. Counts are provisional; they are not billing figures. meta.journal and meta.screens say how full the journal and the list of screens are.',
  scopeGroup: 'account',
  reportsFlow: true,
  name: 'account-usage',
  operation: 'account/usage.graphql',
  graphql: '{ me { usage { trailingDays } } }',
  answer: 'me.usage',
  absent: ['quota'],
  errors: [502],
});
