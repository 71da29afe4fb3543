/** Assigns small numbers to items, in the order of their first use. */
export interface InternTable<T> {
  /** The items by number. */
  items: T[];
  /** The number of an item; a new one for a new item. */
  of(item: T): number;
}

/** Creates an empty table. Items are compared like keys of a `Map`: lists are equal only if they are the same array. */
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
