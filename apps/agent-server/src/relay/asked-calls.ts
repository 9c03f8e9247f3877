import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";
import { prepareFolder, writePrivately } from "../private-file.ts";
import type { Runtime } from "../runtime.ts";

export interface AskedCall {
  readonly approvalId: string;
  readonly caller: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** The calls that a quorum was asked about, by their names. */
export interface AskedCalls extends Iterable<[string, AskedCall]> {
  readonly size: number;
  get(name: string): AskedCall | undefined;
  /** Done when it outlives the process, as far as the disk allows. */
  add(name: string, call: AskedCall): Promise<void>;
  delete(name: string): void;
}

/** What JSON reads as infinite could not be written again, and the other calls with it. */
const Time = v.pipe(v.number(), v.safeInteger());

const File = v.object({
  asker: v.string(),
  calls: v.array(
    v.tuple([
      v.string(),
      v.object({ approvalId: v.string(), caller: v.string(), expiresAt: Time }),
    ]),
  ),
});

/**
 * Keeps them in a file: votes that were given before a restart count after it. `asker` says who asks whom;
 * what another one asked about is forgotten.
 */
export async function openAskedCalls(options: {
  path: string;
  asker: string;
  runtime: Pick<Runtime, "log">;
}): Promise<AskedCalls> {
  const { path, asker, runtime } = options;
  const calls = new Map(await read());
  let writing = Promise.resolve();
  let next: Promise<void> | undefined;

  async function read(): Promise<[string, AskedCall][]> {
    try {
      const file = v.parse(File, JSON.parse(await readFile(path, "utf8")));
      return file.asker === asker ? file.calls : [];
    } catch (cause) {
      const isFirst = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
      if (!isFirst) runtime.log("warn", "approvals.file_unreadable", { cause: String(cause) });
      return [];
    }
  }

  async function write(): Promise<void> {
    next = undefined;
    try {
      await prepareFolder(dirname(path));
      await writePrivately(path, { asker, calls: [...calls] });
    } catch (cause) {
      runtime.log("warn", "approvals.not_kept", { cause: String(cause) });
    }
  }

  /** One write at a time; those that wait for the same next one share it. */
  function keep(): Promise<void> {
    next ??= writing = writing.then(write);
    return next;
  }

  return {
    [Symbol.iterator]: () => calls.entries(),
    get size() {
      return calls.size;
    },
    get: (name) => calls.get(name),
    add(name, call) {
      calls.set(name, call);
      return keep();
    },
    delete(name) {
      if (calls.delete(name)) void keep();
    },
  };
}
