/**
 * Requests that the dashboard takes at most to show a symbol in a window of ordinary height: one question for the head
 * and the panels in sight, and one stream. `first` = also for the lists, and for finding out what the key may not read;
 * `next` = each further symbol; `nextFree` = each further symbol under a free key. A test asks no more of a free key.
 */
export const viewRequests = { first: 9, next: 7, nextFree: 5 } as const;
