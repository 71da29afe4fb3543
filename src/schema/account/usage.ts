import { type AccountUsage, accountUsage, type Quota, type UsageDay } from '../../resolvers/account/usage.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { MeType } from './me.ts';

/** Counts of 30 days by scope group, at most. */
const usageRows = 330;

const UsageDayType = builder.objectRef<UsageDay>('UsageDay').implement({
  description: 'Requests of one scope group on one date.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Date in UTC.' }),
    scopeGroup: t.exposeString('scopeGroup', { description: 'What was asked for, such as market.bars.' }),
    count: t.expose('count', { type: 'Long', description: 'Requests, over both doors.' }),
  }),
});

const RateLimitType = builder.objectRef<AccountUsage['rateLimit']>('RateLimit').implement({
  description: 'How often may be asked.',
  fields: (t) => ({
    perMin: t.exposeInt('perMin', {
      description: 'Requests a minute: of this API key, or of the account for a site session.',
    }),
  }),
});

const QuotaType = builder.objectRef<Quota>('UsageQuota').implement({
  description: 'A bound on requests over a period.',
  fields: (t) => ({
    limit: t.expose('limit', { type: 'Long', description: 'Requests.' }),
    used: t.expose('used', { type: 'Long', description: 'Requests so far.' }),
    resetsAt: t.expose('resetsAt', { type: 'EpochMs', description: 'When the period ends, epoch ms.' }),
  }),
});

const AccountUsageType = builder.objectRef<AccountUsage>('AccountUsage').implement({
  description: 'What an account has asked for. Counts are provisional, not billing figures.',
  fields: (t) => ({
    trailingDays: t.exposeInt('trailingDays', { description: 'UTC days looked back, today among them.' }),
    byDay: t.expose('byDay', {
      type: [UsageDayType],
      extensions: costs({ rows: usageRows }),
      description: 'Counts ascending by date, then by scope group; days without a request are left out.',
    }),
    totalsByScopeGroup: t.expose('totalsByScopeGroup', {
      type: 'CountsByName',
      description: 'Requests over all the days, by scope group.',
    }),
    rateLimit: t.expose('rateLimit', { type: RateLimitType, description: 'How often may be asked.' }),
    quota: t.expose('quota', { type: QuotaType, nullable: true, description: 'Null: there is none for now.' }),
  }),
});

builder.objectField(MeType, 'usage', (t) =>
  t.field({
    type: AccountUsageType,
    nullable: true,
    description: 'What the account has asked for in the last 30 days, this request not yet among it.',
    extensions: { scopeGroup: 'account', ...costs({ once: 0.8 }) },
    resolve: (_me, _args, context) => accountUsage(context),
  }),
);
