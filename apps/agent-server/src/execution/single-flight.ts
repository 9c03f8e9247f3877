import { BoundedMap } from "@agent/crypto";

export type SingleFlightResult<T> =
  | { readonly ok: true; readonly value: Promise<T> }
  | { readonly ok: false; readonly code: "work.conflict" };

export interface SingleFlight<T> {
  /** Starts the work of `key`, or joins it; another `fingerprint` for the same key is refused. */
  run(key: string, fingerprint: string, start: () => Promise<T>): SingleFlightResult<T>;
  find(key: string): Promise<T> | undefined;
}

interface Entry<T> {
  readonly fingerprint: string;
  readonly value: Promise<T>;
}

/**
 * Runs one piece of work per key, however often it arrives. All running work and the `maxFinished`
 * newest finished results are remembered; work that throws can be tried again.
 */
export function createSingleFlight<T>(maxFinished: number): SingleFlight<T> {
  const running = new Map<string, Entry<T>>();
  const finished = new BoundedMap<string, Entry<T>>(maxFinished);
  const findEntry = (key: string) => running.get(key) ?? finished.get(key);

  function trackRun(key: string, fingerprint: string, value: Promise<T>): void {
    const entry = { fingerprint, value };
    running.set(key, entry);
    value.then(
      () => {
        running.delete(key);
        finished.set(key, entry);
      },
      () => running.delete(key),
    );
  }

  return {
    find: (key) => findEntry(key)?.value,
    run(key, fingerprint, start) {
      const known = findEntry(key);
      if (known === undefined) {
        const value = start();
        trackRun(key, fingerprint, value);
        return { ok: true, value };
      }
      return known.fingerprint === fingerprint
        ? { ok: true, value: known.value }
        : { ok: false, code: "work.conflict" };
    },
  };
}
