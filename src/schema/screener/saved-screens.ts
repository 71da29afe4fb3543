import { filterLimits, type ScreenOrder, savedScreenLimits } from '../../core/domain/screener.ts';
import type { RequestContext } from '../../resolvers/context.ts';
import { type ResponseMeta, responseMeta } from '../../resolvers/response-meta.ts';
import { groupReaders } from '../../resolvers/screener/groups.ts';
import {
  isKnownOrder,
  removeScreen,
  renameSavedScreen,
  requiredScreen,
  type SavedScreen,
  type SavedScreenPage,
  type ScreenToSave,
  savedScreen,
  savedScreens,
  savedScreensMax,
  saveScreen,
  screenResult,
} from '../../resolvers/screener/saved-screens.ts';
import { screenLimits } from '../../resolvers/screener/screen.ts';
import { builder } from '../builder.ts';
import { itemsAsked, writing } from '../cost.ts';
import { marketField } from '../market/as-of.ts';
import { metaOf } from '../meta-of.ts';
import { byOwnId, refetchable } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';
import {
  ScreenColumnEnum,
  ScreenFigureEnum,
  ScreenInput,
  ScreenOrderInput,
  ScreenPageType,
  SortDirectionEnum,
} from './screener.ts';

/** The scope group of saved screens: data of an account, which no other caller's answer may share. */
const scopeGroup = 'account';

/** Points of reading one saved screen. */
const screenPoints = 1;

const SavedOrderType = builder.objectRef<ScreenOrder>('SavedScreenOrder').implement({
  description: 'The order of a saved screen.',
  fields: (t) => ({
    figure: t.expose('figure', { type: ScreenFigureEnum, description: 'Figure to order by.' }),
    column: t.expose('figure', { type: ScreenColumnEnum, description: 'Figure to order by, as REST names it.' }),
    direction: t.expose('direction', { type: SortDirectionEnum, description: 'Direction of the order.' }),
  }),
});

/** Points of a saved filter, which is not known beforehand: it has as many conditions as it can, on any figure. */
const anyFilter = 0.05 * filterLimits.conditions;
const anyPast = Object.values(groupReaders).reduce((sum, { pastCost }) => sum + pastCost, 0);

const SavedScreenType = builder.objectRef<SavedScreen>('SavedScreen').implement({
  description: 'A screen of the screener that its owner saved.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id chosen by its owner.' }),
    name: t.exposeString('name', {
      size: { bytes: 20, isWritten: true },
      description: "Display name, unique among its owner's screens.",
    }),
    where: t.string({
      size: { bytes: 200, isWritten: true },
      description: 'The filter as JSON, a value of ScreenInput.',
      resolve: ({ where }) => JSON.stringify(where),
    }),
    orderBy: t.field({
      type: SavedOrderType,
      nullable: true,
      description: 'The order; null = ascending by ticker, or by a figure that this version lacks.',
      resolve: ({ orderBy }) => (orderBy && isKnownOrder(orderBy) ? orderBy : null),
    }),
    result: t.field({
      type: ScreenPageType,
      nullable: true,
      description:
        'The symbols that match now, or within asOf at its instant. Requires the same access as screener with the same filter.',
      args: {
        first: t.arg.int({
          defaultValue: screenLimits.default,
          description: `Number of symbols per page, 1 or more. A value over ${screenLimits.max} is clamped and reported.`,
        }),
        after: t.arg.string({
          description: 'meta.cursor of the previous page. It is invalid once the filter or the order was changed.',
        }),
      },
      scope: 'market.screener',
      price: {
        once: 2,
        each: ({ past = 0 }) => anyFilter + past * anyPast,
        sizes: ({ first }) => ({ page: itemsAsked(first, screenLimits.max, screenLimits.default) }),
      },
      resolve: (saved, args, context) => screenResult(context, saved, args),
    }),
  }),
});

refetchable(SavedScreenType, ({ id }) => id, byOwnId(savedScreen, screenPoints), scopeGroup);

const SavedScreenMeta = metaOf<SavedScreenPage['meta']>(
  'SavedScreenMeta',
  'registry',
  'Metadata of saved screens.',
  (t) => ({
    count: t.exposeInt('count', { description: 'Number of screens on this page.' }),
    totalCount: t.exposeInt('totalCount', { description: 'Number of screens over all pages.' }),
    cursor: t.exposeString('cursor', {
      nullable: true,
      description: 'Cursor of the next page; null on the last page.',
    }),
  }),
);

const SavedScreensType = builder.objectRef<SavedScreenPage>('SavedScreens').implement({
  description: "A page of the caller's saved screens.",
  fields: (t) => ({
    rows: t.expose('rows', {
      type: [SavedScreenType],
      size: { rows: 'page' },
      description: 'Screens, oldest first.',
    }),
    meta: t.expose('meta', { type: SavedScreenMeta, description: 'Metadata of the page.' }),
  }),
});

builder.queryField('screens', (t) =>
  t.field({
    type: SavedScreensType,
    nullable: true,
    description: "The caller's saved screens, oldest first.",
    args: {
      first: t.arg.int({ description: `Number of screens per page. Default and maximum: ${savedScreensMax}.` }),
      after: t.arg.string({ description: 'meta.cursor of the previous page.' }),
    },
    scope: scopeGroup,
    price: {
      once: 1,
      sizes: ({ first }) => ({ page: itemsAsked(first, savedScreensMax) }),
    },
    resolve: (_root, args, context) => savedScreens(context, args),
  }),
);

marketField('screen', (t) =>
  t.field({
    type: SavedScreenType,
    nullable: true,
    description: "One of the caller's saved screens. not_found if the id is unknown.",
    args: { id: t.arg.id({ required: true, description: 'Id chosen by its owner.' }) },
    scope: scopeGroup,
    price: { once: screenPoints },
    resolve: (_root, { id }, context) => requiredScreen(context, id),
  }),
);

const SavedScreenPayload = builder
  .objectRef<{ screen: SavedScreen; meta: ResponseMeta }>('SavedScreenPayload')
  .implement({
    description: 'The saved screen after a change.',
    fields: (t) => ({
      screen: t.expose('screen', { type: SavedScreenType, description: 'The stored screen.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

const DeleteScreenPayload = builder
  .objectRef<{ deleted: string; meta: ResponseMeta }>('DeleteScreenPayload')
  .implement({
    description: 'Result of deleting a saved screen.',
    fields: (t) => ({
      deleted: t.exposeID('deleted', { description: 'Id of the deleted screen.' }),
      meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
    }),
  });

const SavedScreenInput = builder.inputType('SavedScreenInput', {
  description: 'A screen to save.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `Display name, not blank, at most ${savedScreenLimits.nameLength} characters. No other screen of the account has it.`,
    }),
    where: t.field({ type: ScreenInput, required: true, description: 'The filter; {} = all symbols.' }),
    orderBy: t.field({ type: ScreenOrderInput, description: 'The order. Default: ascending by ticker.' }),
  }),
});

/** `meta` of a change's answer. */
const changed = (context: RequestContext) => ({ meta: responseMeta(context, 'registry') });

builder.mutationFields((t) => ({
  putScreen: t.field({
    type: SavedScreenPayload,
    nullable: true,
    scope: scopeGroup,
    price: writing,
    description: `Saves a screen, replacing the one with this id. The filter is checked as screener checks it; with the order it has at most ${savedScreenLimits.bytes} bytes as JSON. invalid_params over the account's number of screens, which usage reports.`,
    args: {
      id: t.arg.id({ required: true, description: 'Id chosen by the caller.' }),
      screen: t.arg({ type: SavedScreenInput, required: true, description: 'The screen.' }),
    },
    resolve: async (_root, { id, screen }, context) => ({
      screen: await saveScreen(context, id, screen as ScreenToSave),
      ...changed(context),
    }),
  }),
  renameScreen: t.field({
    type: SavedScreenPayload,
    nullable: true,
    scope: scopeGroup,
    price: writing,
    description: 'Renames a saved screen. not_found if the id is unknown.',
    args: {
      id: t.arg.id({ required: true, description: 'Id chosen by its owner.' }),
      name: t.arg.string({ required: true, description: 'The new name.' }),
    },
    resolve: async (_root, { id, name }, context) => ({
      screen: await renameSavedScreen(context, id, name),
      ...changed(context),
    }),
  }),
  deleteScreen: t.field({
    type: DeleteScreenPayload,
    nullable: true,
    scope: scopeGroup,
    price: writing,
    description: 'Deletes a saved screen. not_found if the id is unknown.',
    args: { id: t.arg.id({ required: true, description: 'Id chosen by its owner.' }) },
    resolve: async (_root, { id }, context) => ({ deleted: await removeScreen(context, id), ...changed(context) }),
  }),
}));
