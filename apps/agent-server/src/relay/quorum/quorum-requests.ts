import * as v from "valibot";
import type { ApprovalsFile } from "../../policy/approvals-file.ts";

export interface QuorumRequest {
  readonly approvalId: string;
  readonly caller: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** The calls that a quorum was asked about, by their names. */
export interface QuorumRequests extends Iterable<[string, QuorumRequest]> {
  readonly size: number;
  get(name: string): QuorumRequest | undefined;
  /** Done when it outlives the process, as far as the disk allows. */
  add(name: string, call: QuorumRequest): Promise<void>;
  delete(name: string): void;
}

/** What JSON reads as infinite could not be written again, and the other calls with it. */
const Time = v.pipe(v.number(), v.safeInteger());

const StoredRequests = v.object({
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
export function openQuorumRequests({
  file,
  asker,
}: {
  readonly file: ApprovalsFile;
  readonly asker: string;
}): QuorumRequests {
  const calls = new Map(parseStoredRequests(file, asker));
  const saveRequests = () => file.write({ asker, calls: [...calls] });

  return {
    [Symbol.iterator]: () => calls.entries(),
    get size() {
      return calls.size;
    },
    get: (name) => calls.get(name),
    async add(name, call) {
      calls.set(name, call);
      await saveRequests();
    },
    delete(name) {
      if (calls.delete(name)) void saveRequests();
    },
  };
}

function parseStoredRequests(file: ApprovalsFile, asker: string): [string, QuorumRequest][] {
  // The owner alone may have been asked so far.
  if (file.initialContent["asker"] === undefined && file.initialContent["calls"] === undefined)
    return [];
  const parsed = v.safeParse(StoredRequests, file.initialContent);
  if (!parsed.success) {
    file.logUnreadable("the calls that a quorum was asked about are not what was written");
    return [];
  }
  return parsed.output.asker === asker ? parsed.output.calls : [];
}
