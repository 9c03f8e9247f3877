export type OnceAnswer<T> =
  | { readonly ok: true; readonly value: Promise<T> }
  | { readonly ok: false; readonly code: "work.conflict" };

export interface Once<T> {
  /** Starts the work of `key`, or joins it; another `fingerprint` under the same key is refused. */
  run(key: string, fingerprint: string, start: () => Promise<T>): OnceAnswer<T>;
  find(key: string): Promise<T> | undefined;
}

/**
 * One piece of work per key, however often and over however many ways it arrives. The `kept` newest
 * are remembered, running or finished; work that throws is forgotten and can be tried again.
 */
export function createOnce<T>(kept: number): Once<T> {
  const entries = new Map<string, { fingerprint: string; value: Promise<T> }>();
  return {
    find: (key) => entries.get(key)?.value,
    run(key, fingerprint, start) {
      const known = entries.get(key);
      if (known !== undefined) {
        return known.fingerprint === fingerprint
          ? { ok: true, value: known.value }
          : { ok: false, code: "work.conflict" };
      }
      const value = start();
      entries.set(key, { fingerprint, value });
      value.catch(() => entries.delete(key));
      const oldest = entries.keys().next();
      if (entries.size > kept && oldest.done !== true) entries.delete(oldest.value);
      return { ok: true, value };
    },
  };
}
