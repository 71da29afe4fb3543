import { route } from '../../contract/route.ts';

// Translates only: the session, the minute and entitlement are the resolver's.
export const unusualFlow = route({
  path: '/v2/flow/:symbol/unusual',
  summary: 'Unusual premium',
  description:
    'Premium of calls and of puts of the current session so far, and each divided by its mean over the last 20 sessions to the same minute of the day. A ratio of 2 is twice as much. sessions counts the sessions with stored trades in the means.',
  scopeGroup: 'analytics.flow',
  name: 'unusual-flow',
  operation: 'flow/unusual.graphql',
  graphql: '{ symbol(symbol: "{symbol}") { flow { unusual { callRatio putRatio sessions } } } }',
  answer: 'symbol.flow.unusual',
  withoutTool: true,
  errors: [400, 403, 404, 502, 503],
});
