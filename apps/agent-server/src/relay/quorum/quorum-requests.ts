import * as v from "valibot";
import type { ApprovalsFile } from "../../policy/approvals-file.ts";
import type { PlaceHolder } from "../../policy/place-holder.ts";
import { storedHolder, watchStoredEntries } from "../../policy/stored-entries.ts";

export interface QuorumRequest extends PlaceHolder {
  readonly approvalId: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  readonly isDenied?: true;
}

/** The calls that a quorum was asked about, by their keys. */
export interface QuorumRequests extends Iterable<[string, QuorumRequest]> {
  get(name: string): QuorumRequest | undefined;
  /** Adds or replaces a request; it survives the process once this resolves, unless writing failed. */
  add(name: string, call: QuorumRequest): Promise<void>;
  /** Deletes a request; false if a restart would bring it back, because the file cannot be written. */
  delete(name: string): Promise<boolean>;
}

/**
 * JSON can parse a number as infinite but cannot write it again, which would lose the other calls
 * too.
 */
const Time = v.pipe(v.number(), v.safeInteger());

const StoredRequests = v.object({
  asker: v.string(),
  calls: v.array(
    v.tuple([
      v.string(),
      v.object({
        approvalId: v.string(),
        ...storedHolder,
        expiresAt: Time,
        isDenied: v.exactOptional(v.literal(true)),
      }),
    ]),
  ),
});

/**
 * Opens the requests in a file, so that votes given before a restart count after it. `asker`
 * identifies the agent, relay and quorum; the requests of another asker are discarded.
 */
export function openQuorumRequests({
  file,
  asker,
}: {
  readonly file: ApprovalsFile;
  readonly asker: string;
}): QuorumRequests {
  const calls = new Map(parseStoredRequests(file, asker));
  const stored = watchStoredEntries(calls, () => file.write({ asker, calls: [...calls] }));

  return {
    [Symbol.iterator]: () => calls.entries(),
    get: (name) => calls.get(name),
    async add(name, call) {
      calls.set(name, call);
      await stored.save();
    },
    async delete(name) {
      const call = calls.get(name);
      if (call === undefined) return true;
      calls.delete(name);
      return (await stored.save()) || !stored.has(call.approvalId);
    },
  };
}

function parseStoredRequests(file: ApprovalsFile, asker: string): [string, QuorumRequest][] {
  // The file may hold only the owner's approvals so far.
  if (file.initialContent["asker"] === undefined && file.initialContent["calls"] === undefined)
    return [];
  const parsed = v.safeParse(StoredRequests, file.initialContent);
  if (!parsed.success) {
    file.logUnreadable("the calls that a quorum was asked about are malformed");
    return [];
  }
  return parsed.output.asker === asker ? parsed.output.calls : [];
}
