import { HEX_OF_32_BYTES } from "@agent/crypto";
import { isMissingFile } from "@agent/crypto/private-file";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { createPrivateFolder, writePrivateFile } from "../../../files/private-file.ts";
import type { Runtime } from "../../../runtime.ts";
import type { OrderPlan } from "./plan-order.ts";

/** An order that was begun. Its texts are not stored, only their hash. */
export interface BegunOrder {
  /** The SHA-256 of what the caller ordered; equal for equal orders. */
  readonly orderHash: string;
  /** The key under which the relay creates one task, however often it is submitted. */
  readonly idempotencyKey: string;
  readonly plan: OrderPlan;
  readonly since: number;
  /** When the outcome was returned to the caller; absent until then. */
  readonly answeredAt?: number | undefined;
}

/** The orders that may have a task at the relay; they outlive the process. */
export interface OrderStore {
  /** Loads the orders, oldest first. */
  load(): Promise<readonly BegunOrder[]>;
  /** Saves an order; returns false if it is not on disk, with the reason in the log. */
  save(order: BegunOrder): Promise<boolean>;
  delete(order: Pick<BegunOrder, "idempotencyKey">): Promise<void>;
}

const HASH = v.pipe(v.string(), v.regex(HEX_OF_32_BYTES));
const OrderFile = v.object({
  relay_url: v.string(),
  agent_id: v.string(),
  order: v.object({
    orderHash: HASH,
    idempotencyKey: HASH,
    plan: v.object({
      agentId: v.string(),
      publicKey: v.optional(v.string()),
      excludeAgents: v.array(v.string()),
    }),
    since: v.number(),
    answeredAt: v.optional(v.number()),
  }),
});

/**
 * Creates a store with one file per order in a folder. Orders at another relay or of another agent stay
 * there in case the folder serves them again.
 */
export function createOrderStore(options: {
  readonly path: string;
  readonly relayUrl: string;
  readonly agentId: string;
  readonly runtime: Pick<Runtime, "log">;
}): OrderStore {
  const { path, relayUrl: relay_url, agentId: agent_id, runtime } = options;
  const buildFilePath = (idempotencyKey: string) => join(path, `${idempotencyKey}.json`);

  async function read(name: string): Promise<BegunOrder | undefined> {
    const file = parseOrderFile(await readFile(join(path, name), "utf8"));
    if (file === undefined) runtime.log("warn", "orders.file_unreadable", { file: name });
    const isOurs = file?.relay_url === relay_url && file.agent_id === agent_id;
    return isOurs ? file.order : undefined;
  }

  /** Without the folder no order can be submitted either, so a fault must not stop the start. */
  async function listFiles(): Promise<string[]> {
    try {
      return (await readdir(path)).filter((name) => name.endsWith(".json"));
    } catch (cause) {
      const isFirst = isMissingFile(cause);
      if (!isFirst) runtime.log("error", "orders.unreadable", { cause: String(cause) });
      return [];
    }
  }

  return {
    async load() {
      const orders = await Promise.all((await listFiles()).map(read));
      return orders.filter((order) => order !== undefined).toSorted((a, b) => a.since - b.since);
    },
    async save(order) {
      try {
        await createPrivateFolder(path);
        await writePrivateFile(buildFilePath(order.idempotencyKey), { relay_url, agent_id, order });
        return true;
      } catch (cause) {
        runtime.log("error", "orders.not_stored", { cause: String(cause) });
        return false;
      }
    },
    async delete({ idempotencyKey }) {
      await rm(buildFilePath(idempotencyKey), { force: true }).catch((cause: unknown) => {
        runtime.log("warn", "orders.not_deleted", { cause: String(cause) });
      });
    },
  };
}

function parseOrderFile(text: string): v.InferOutput<typeof OrderFile> | undefined {
  try {
    const parsed = v.safeParse(OrderFile, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
