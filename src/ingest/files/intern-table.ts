/** Things as small numbers, in the order in which they were met. */
export interface InternTable<T> {
  /** The things by their numbers. */
  items: T[];
  /** The thing's number: a new one for a new thing. */
  of(item: T): number;
}

/**
 * No things yet. Things are distinguished as a `Map` tells keys apart: lists that a reader gives as one array are one.
 */
export function internTable<T>(): InternTable<T> {
  const numbers = new Map<T, number>();
  const items: T[] = [];
  return {
    items,
    of(item) {
      let number = numbers.get(item);
      if (number === undefined) {
        number = items.push(item) - 1;
        numbers.set(item, number);
      }
      return number;
    },
  };
}
