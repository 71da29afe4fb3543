/**
 * Maximum number of requests with which the dashboard shows a symbol in a window of ordinary height: one query for the
 * head and the visible panels, and one stream. `first` = also for the lists, and to learn what the key may not read;
 * `next` = each further symbol; `nextFree` = each further symbol with a free key. A test holds the dashboard to these.
 */
export const viewRequests = { first: 9, next: 7, nextFree: 5 } as const;
