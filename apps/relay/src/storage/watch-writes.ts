import { StorageUnavailable, type Storage } from "./storage.ts";

/** A write that the database refused. */
export interface WriteFailure {
  readonly message: string;
}

/** The last write that the database refused, until `clear` states that another one succeeded. */
export interface WriteWatch {
  failure(): WriteFailure | undefined;
  /** Does nothing if a later write has failed. */
  clear(ended: WriteFailure): void;
}

/** Notes whether the database refuses writes. Reads show nothing of a full disk. */
export function watchWrites(storage: Storage): {
  readonly storage: Storage;
  readonly writes: WriteWatch;
} {
  let latest: WriteFailure | undefined;
  return {
    writes: {
      failure: () => latest,
      clear(ended) {
        if (latest === ended) latest = undefined;
      },
    },
    storage: {
      ...storage,
      async transaction(work, isolation) {
        try {
          return await storage.transaction(work, isolation);
        } catch (error) {
          if (error instanceof StorageUnavailable) latest = { message: error.message };
          throw error;
        }
      },
    },
  };
}
