import { unknownNames } from '../../core/analytics/screener/filter.ts';
import { isId } from '../../core/domain/account.ts';
import { figureColumns, type ScreenFilter, type ScreenOrder } from '../../core/domain/screener.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { invalidParameter, notFound } from '../../platform/wire/failure.ts';
import {
  countScreens,
  deleteScreen,
  findScreens,
  listScreens,
  putScreen,
  renameScreen,
  type StoredScreen,
} from '../../store/account/saved-screens.ts';
import { fromStore, ofAllInstants, type RequestContext } from '../context.ts';
import { readPosition, writeCursor } from '../cursor.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { checkScreen, type ScreenPage, screen } from './screen.ts';

/** Maximum number of saved screens on a page, and the default. */
export const savedScreensMax = 100;

/** The filter and order of a screen. */
interface ScreenDefinition {
  where: ScreenFilter;
  orderBy: ScreenOrder | null;
}

/** A screen that the caller saved. */
export interface SavedScreen extends ScreenDefinition {
  id: string;
  name: string;
}

/** A screen to save, as sent. */
export interface ScreenToSave {
  name: string;
  where: ScreenFilter;
  orderBy?: ScreenOrder | null | undefined;
}

/** A page of the caller's screens. */
export interface SavedScreenPage {
  rows: SavedScreen[];
  meta: ResponseMeta & { count: number; totalCount: number; cursor: string | null };
}

const saved = ({ id, name, definition }: StoredScreen): SavedScreen => ({ id, name, ...JSON.parse(definition) });

const noScreen = (id: string) => notFound(`Screen ${JSON.stringify(id.slice(0, 40))}`);

/** The caller's saved screens, oldest first, a page at a time. The cursor is a position in the list. */
export async function savedScreens(
  context: RequestContext,
  { first, after }: { first?: number | null | undefined; after?: string | null | undefined },
): Promise<SavedScreenPage> {
  const { store, caller } = context;
  if (first != null && first < 1) throw invalidParameter('first', 'expected 1 or more');
  const take = Math.min(first ?? savedScreensMax, savedScreensMax);
  const bound = ['screens'];
  const skip = after == null ? 0 : Math.max(0, readPosition(after, bound, 'after'));
  const [found, totalCount] = await fromStore('screens', () =>
    Promise.all([listScreens(store, caller.accountId, { skip, take }), countScreens(store, caller.accountId)]),
  );
  const rows = found.map(saved);
  const end = skip + rows.length;
  const cursor = rows.length > 0 && end < totalCount ? writeCursor(String(end), bound) : null;
  const caps = (first ?? 0) > savedScreensMax ? ['limit_clamped'] : [];
  return { rows, meta: { ...responseMeta(context, 'registry', caps), count: rows.length, totalCount, cursor } };
}

/** The caller's screen with that id; null = none. Those of one answer are read together. */
export function savedScreen(context: RequestContext, id: string): Promise<SavedScreen | null> {
  const { store, caller } = context;
  return batched(ofAllInstants(context), 'screens', id, async (ids) => {
    const found = await fromStore('screens', () => findScreens(store, caller.accountId, ids.filter(isId)));
    return new Map(found.map((screen) => [screen.id, saved(screen)]));
  });
}

/** The caller's screen with that id; 404 = none. */
export async function requiredScreen(context: RequestContext, id: string): Promise<SavedScreen> {
  const found = await savedScreen(context, id);
  if (!found) throw noScreen(id);
  return found;
}

/** True if this version has the figure that a saved screen is ordered by. */
export function isKnownOrder({ figure }: ScreenOrder): boolean {
  return Object.hasOwn(figureColumns, figure);
}

/**
 * The symbols that match a saved screen, with the rights that the caller has now: 403 for figures that it may no longer
 * read.
 */
export async function screenResult(
  context: RequestContext,
  { where, orderBy }: SavedScreen,
  page: { first?: number | null | undefined; after?: string | null | undefined },
): Promise<ScreenPage> {
  const order = orderBy && !isKnownOrder(orderBy) ? [orderBy.figure] : [];
  const [unknown] = [...unknownNames(where), ...order];
  // A later release may have saved it in this store.
  if (unknown !== undefined) throw invalidParameter('id', `the screen uses ${unknown}, which this version lacks`);
  return screen(context, { where, orderBy, ...page });
}

/**
 * Saves a screen, replacing the caller's one with that id. 400 for a filter over the limits, 403 for figures that the
 * caller may not read.
 */
export async function saveScreen(context: RequestContext, id: string, sent: ScreenToSave): Promise<SavedScreen> {
  const { store, caller, maxSavedScreens, nowMs } = context;
  const { name, where } = sent;
  const orderBy = sent.orderBy ?? null;
  checkScreen(context, { where, orderBy });
  const own = { accountId: caller.accountId, maxScreens: maxSavedScreens };
  const definition = JSON.stringify({ where, orderBy });
  return saved(await fromStore('screens', () => putScreen(store, own, { id, name, definition }, nowMs)));
}

/** Renames a screen of the caller; 404 if the id is unknown. */
export async function renameSavedScreen(context: RequestContext, id: string, name: string): Promise<SavedScreen> {
  const { store, caller, nowMs } = context;
  const renamed = await fromStore('screens', () => renameScreen(store, caller.accountId, { id, name }, nowMs));
  if (!renamed) throw noScreen(id);
  return saved(renamed);
}

/** Deletes a screen of the caller and returns its id; 404 if the id is unknown. */
export async function removeScreen({ store, caller }: RequestContext, id: string): Promise<string> {
  if (!(await fromStore('screens', () => deleteScreen(store, caller.accountId, id)))) throw noScreen(id);
  return id;
}
