import {
  type AccountUsage,
  accountMeta,
  accountUsage,
  type CreatedStreamTicket,
  createStreamTicket,
  type Me,
  type Quota,
  type UsageDay,
} from '../../resolvers/account.ts';
import type { ResponseMeta } from '../../resolvers/response-meta.ts';
import { builder } from '../builder.ts';
import { free, writing } from '../cost.ts';
import { metaOf } from '../meta-of.ts';
import { ClassificationEnum, PlainMetaType, TierEnum } from '../response-meta.ts';

const CallerKindEnum = builder.enumType('CallerKind', {
  description: 'Kind of credential of a request.',
  values: {
    key: { description: 'An API key, served under the API tier.' },
    session: { description: 'A site session, served under the site tier.' },
  } as const,
});

/** The caller's account. Other parts of the schema add their edges in their own files. */
export const MeType = builder.objectRef<Me>('Me').implement({
  description: 'The calling account, and how this request is served.',
  fields: (t) => ({
    accountId: t.exposeID('accountId', { description: 'Id of the account.' }),
    kind: t.expose('kind', { type: CallerKindEnum, description: 'API key or site session.' }),
    keyId: t.exposeID('keyId', { nullable: true, description: 'Id of the API key; null for a site session.' }),
    tier: t.expose('tier', { type: TierEnum, description: 'Tier this request is served under.' }),
    siteTier: t.expose('siteTier', { type: TierEnum, description: "Tier of the account's site sessions." }),
    apiTier: t.expose('apiTier', { type: TierEnum, description: "Tier of the account's API keys." }),
    classification: t.expose('classification', {
      type: ClassificationEnum,
      nullable: true,
      description: 'The market-data status the account declared; null = none yet.',
    }),
    attested: t.exposeBoolean('attested', {
      description:
        'True if the account declared itself non-professional. Index products, option flow and off-exchange data require it.',
    }),
  }),
});

builder.queryField('me', (t) =>
  t.field({
    type: MeType,
    description: 'The caller.',
    scope: 'account',
    price: free,
    resolve: (_root, _args, context) => context.caller,
  }),
);

const CreateStreamTicketPayload = builder.objectRef<CreatedStreamTicket>('CreateStreamTicketPayload').implement({
  description: 'A ticket that opens a WebSocket at /v2/ws.',
  fields: (t) => ({
    ticket: t.exposeString('ticket', {
      description: 'The ticket. It can be used once, with any process of the service.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs', description: 'Expiry time, epoch ms: 30 seconds from now.' }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.mutationField('createStreamTicket', (t) =>
  t.field({
    type: CreateStreamTicketPayload,
    nullable: true,
    description: "Creates a ticket that replaces this request's credential when a WebSocket is opened at /v2/ws.",
    scope: 'account',
    price: writing,
    resolve: (_root, _args, context) => createStreamTicket(context),
  }),
);

/** Maximum number of counts of 30 days by scope group. */
const usageRows = 330;

const UsageDayType = builder.objectRef<UsageDay>('UsageDay').implement({
  description: 'Requests of one scope group on one date.',
  fields: (t) => ({
    date: t.expose('date', { type: 'SessionDate', description: 'Date in UTC.' }),
    scopeGroup: t.exposeString('scopeGroup', { description: 'Scope group of the requests, such as market.bars.' }),
    count: t.expose('count', { type: 'Long', description: 'Number of requests, REST and GraphQL together.' }),
  }),
});

const RateLimitType = builder.objectRef<AccountUsage['rateLimit']>('RateLimit').implement({
  description: 'The rate limit in force.',
  fields: (t) => ({
    perMin: t.exposeInt('perMin', {
      description: 'Requests per minute: of this API key, or of the account for a site session.',
    }),
  }),
});

const QuotaType = builder.objectRef<Quota>('UsageQuota').implement({
  description: 'A quota of requests per period.',
  fields: (t) => ({
    limit: t.expose('limit', { type: 'Long', description: 'Requests allowed.' }),
    used: t.expose('used', { type: 'Long', description: 'Requests made.' }),
    resetsAt: t.expose('resetsAt', { type: 'EpochMs', description: 'End of the period, epoch ms.' }),
  }),
});

const JournalUsageType = builder.objectRef<AccountUsage['journal']>('JournalUsage').implement({
  description: 'The rows of a journal: trades, journal accounts and imports.',
  fields: (t) => ({
    rows: t.exposeInt('rows', { description: 'Number of rows in the journal.' }),
    limit: t.exposeInt('limit', {
      description: 'Number of rows that the journal can hold. A request that adds more returns invalid_params.',
    }),
  }),
});

const ScreensUsageType = builder.objectRef<AccountUsage['screens']>('ScreensUsage').implement({
  description: 'The saved screens of an account.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of saved screens.' }),
    limit: t.exposeInt('limit', {
      description: 'Number of screens that the account can save. One more returns invalid_params.',
    }),
  }),
});

type AccountUsageMeta = ResponseMeta & Pick<AccountUsage, 'journal' | 'screens'>;

const AccountUsageMetaType = metaOf<AccountUsageMeta>(
  'AccountUsageMeta',
  'registry',
  "Metadata of an account's usage: how full its journal and its list of screens are.",
  (t) => ({
    journal: t.expose('journal', { type: JournalUsageType, description: 'Rows of the journal.' }),
    screens: t.expose('screens', { type: ScreensUsageType, description: 'Saved screens.' }),
  }),
);

const AccountUsageType = builder.objectRef<AccountUsage>('AccountUsage').implement({
  description: 'Requests that an account has made. Counts are provisional; they are not billing figures.',
  fields: (t) => ({
    trailingDays: t.exposeInt('trailingDays', { description: 'UTC days covered, including today.' }),
    byDay: t.expose('byDay', {
      type: [UsageDayType],
      size: { rows: usageRows },
      description: 'Counts ascending by date, then by scope group. Days without a request are omitted.',
    }),
    totalsByScopeGroup: t.expose('totalsByScopeGroup', {
      type: 'CountsByName',
      description: 'Requests over all days, by scope group.',
    }),
    rateLimit: t.expose('rateLimit', { type: RateLimitType, description: 'The rate limit in force.' }),
    quota: t.expose('quota', { type: QuotaType, nullable: true, description: 'Always null: there is no quota yet.' }),
    journal: t.expose('journal', { type: JournalUsageType, description: 'Rows of the journal.' }),
    screens: t.expose('screens', { type: ScreensUsageType, description: 'Saved screens.' }),
    meta: t.field({
      type: AccountUsageMetaType,
      description: 'Metadata of the answer; reports caps.flow.',
      scope: 'parent',
      price: free,
      resolve: ({ journal, screens }, _args, context) => ({ ...accountMeta(context), journal, screens }),
    }),
  }),
});

builder.objectField(MeType, 'usage', (t) =>
  t.field({
    type: AccountUsageType,
    nullable: true,
    description: 'Requests of the account in the last 30 days, without this one.',
    scope: 'account',
    price: { once: 1.2 },
    resolve: (_me, _args, context) => accountUsage(context),
  }),
);
