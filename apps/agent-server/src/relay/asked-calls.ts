import * as v from "valibot";
import type { ApprovalsFile } from "../policy/approvals-file.ts";

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

const Asked = v.object({
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
export function openAskedCalls({
  file,
  asker,
}: {
  readonly file: ApprovalsFile;
  readonly asker: string;
}): AskedCalls {
  const calls = new Map(keptIn(file, asker));
  const keep = () => file.write({ asker, calls: [...calls] });

  return {
    [Symbol.iterator]: () => calls.entries(),
    get size() {
      return calls.size;
    },
    get: (name) => calls.get(name),
    async add(name, call) {
      calls.set(name, call);
      await keep();
    },
    delete(name) {
      if (calls.delete(name)) void keep();
    },
  };
}

function keptIn(file: ApprovalsFile, asker: string): [string, AskedCall][] {
  // The owner alone may have been asked so far.
  if (file.read["asker"] === undefined && file.read["calls"] === undefined) return [];
  const asked = v.safeParse(Asked, file.read);
  if (!asked.success) {
    file.unreadable("the calls that a quorum was asked about are not what was written");
    return [];
  }
  return asked.output.asker === asker ? asked.output.calls : [];
}
