import { BoundedMap, canonicalize, isJsonObject, sha256Hex } from "@agent/crypto";
import { readFileIfPresent } from "@agent/crypto/private-file";
import type { DelegationToken } from "@agent/receipts";
import { limits } from "@agent/wire";
import * as v from "valibot";
import { createStateFile } from "../../files/state-file.ts";
import type { Runtime } from "../../runtime.ts";
import type { DelegationSlot } from "./delegation-slot.ts";

/** The parts of a submission that are looked up or made, and must be identical when it is repeated. */
export interface DelegationPlan {
  readonly agentId: string;
  /** Null: no price was shown, and there is no maximum. */
  readonly maxBudget?: number | null | undefined;
  readonly token?: DelegationToken | undefined;
}

/** The delegations of unfinished relay tasks, so that a further attempt at a task pays for none of them again. */
export interface BegunDelegations {
  /** Returns the key under which the relay creates one task, and the plan of an earlier attempt, if there was one. */
  find(slot: DelegationSlot): { readonly key: string; readonly plan: DelegationPlan | undefined };
  /** Keeps a plan; it is on disk when this resolves, unless the log says that it could not be written. */
  keep(slot: DelegationSlot, plan: DelegationPlan): Promise<void>;
  /** Ends a delegation whose task will not be paid, so that the next attempt orders anew. */
  void(slot: DelegationSlot): Promise<void>;
  /** Deletes the delegations of a relay task whose receipt is safe; the next write includes it. */
  end(taskId: string): void;
}

interface Entry {
  readonly taskId: string;
  /** The number of earlier submissions that were ended. */
  readonly generation: number;
  readonly plan?: DelegationPlan | undefined;
  readonly since: number;
}

const MAX_ENTRIES = 1_000;

const PlanSchema = v.object({
  agentId: v.string(),
  maxBudget: v.nullish(v.number()),
  // A schema could reorder its members, and the repeated submission must have the same bytes.
  token: v.optional(v.custom<DelegationToken>(isJsonObject)),
});
const DelegationsFile = v.object({
  relay_url: v.string(),
  agent_id: v.string(),
  delegations: v.array(
    v.tuple([
      v.string(),
      v.object({
        taskId: v.string(),
        generation: v.number(),
        plan: v.optional(PlanSchema),
        since: v.number(),
      }),
    ]),
  ),
});

/**
 * Opens the file of begun delegations. Those of another relay or agent, and those whose key the relay no longer
 * knows, are left out. The key follows from the task and the request: without a disk the relay itself refuses a
 * second task under it.
 */
export async function openBegunDelegations(
  { path, ...of }: { readonly path: string; readonly relayUrl: string; readonly agentId: string },
  { now, log }: Pick<Runtime, "now" | "log">,
): Promise<BegunDelegations> {
  const entries = new BoundedMap<string, Entry>(MAX_ENTRIES);
  try {
    for (const [name, entry] of await loadEntries(path, of)) {
      if (now() - entry.since < limits.idempotencyKeyMs) entries.set(name, entry);
    }
  } catch (cause) {
    log("warn", "delegations.unreadable", { cause: String(cause) });
  }
  const write = createStateFile({
    path,
    getContent: () => ({
      relay_url: of.relayUrl,
      agent_id: of.agentId,
      delegations: [...entries],
    }),
    onFault: (cause) => log("error", "delegations.not_kept", { cause: String(cause) }),
  });

  async function set(slot: DelegationSlot, change: Pick<Entry, "generation" | "plan">) {
    entries.set(nameSlot(slot), { taskId: slot.taskId, since: now(), ...change });
    await write();
  }

  const generationOf = (slot: DelegationSlot) => entries.get(nameSlot(slot))?.generation ?? 0;

  return {
    find(slot) {
      const name = nameSlot(slot);
      const key = sha256Hex(canonicalize([name, generationOf(slot)]));
      return { key, plan: entries.get(name)?.plan };
    },
    keep: (slot, plan) => set(slot, { generation: generationOf(slot), plan }),
    void: (slot) => set(slot, { generation: generationOf(slot) + 1, plan: undefined }),
    end(taskId) {
      for (const [name, entry] of entries) if (entry.taskId === taskId) entries.delete(name);
    },
  };
}

function nameSlot({ taskId, requestHash, ordinal }: DelegationSlot): string {
  return sha256Hex(canonicalize([taskId, requestHash, ordinal]));
}

async function loadEntries(
  path: string,
  { relayUrl, agentId }: { readonly relayUrl: string; readonly agentId: string },
): Promise<readonly (readonly [string, Entry])[]> {
  const text = await readFileIfPresent(path);
  if (text === undefined) return [];
  const file = v.parse(DelegationsFile, JSON.parse(text));
  const isOurs = file.relay_url === relayUrl && file.agent_id === agentId;
  return isOurs ? file.delegations : [];
}
