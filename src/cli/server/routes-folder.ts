import type { Logger } from 'pino';
import { type RouteFiles, readRouteFiles } from '../../rest/own/route-files.ts';
import { failureText } from '../io/command-result.ts';

/**
 * A folder of the operator's routes. It is read here, once for all workers, so that they serve the same at any time.
 */
export class RoutesFolder {
  readonly #folder: string;
  #files: RouteFiles;
  #reloading: Promise<void> = Promise.resolve();

  /** Reads the folder. Throws `RoutesError` if a file of it cannot be read. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#files = readRouteFiles(folder);
  }

  /** The files in force. */
  get files(): RouteFiles {
    return this.#files;
  }

  /**
   * Reads the folder again and passes its files to `change`, which resolves with the reason for which they are not
   * served. Then, and if they cannot be read, the files in force stay. One reload follows the other.
   */
  reload(change: (files: RouteFiles) => Promise<string | null>, log: Pick<Logger, 'info' | 'warn'>): Promise<void> {
    this.#reloading = this.#reloading.then(async () => {
      let problem: string | null;
      try {
        const files = readRouteFiles(this.#folder);
        problem = await change(files);
        if (problem === null) this.#files = files;
      } catch (error) {
        problem = failureText(error);
      }
      if (problem === null) log.info(`the routes of ${this.#folder} are served: ${this.#files.documents.length}`);
      else log.warn(`the routes that were served stay, because ${this.#folder} does not fit:\n${problem}`);
    });
    return this.#reloading;
  }
}
