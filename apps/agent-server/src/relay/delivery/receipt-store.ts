import { sha256Hex } from "@agent/crypto";
import { isMissingFile } from "@agent/crypto/private-file";
import { parseLedger, type SignedLedger } from "@agent/ledger";
import { parseReceipt, type ExecutionReceipt } from "@agent/receipts";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createPrivateFolder, writePrivateFile } from "../../files/private-file.ts";
import type { Runtime } from "../../runtime.ts";

/**
 * An undelivered receipt, its ledger if the agent signs ledgers, and the agent under whose path the relay
 * expects the receipt, if that is known.
 */
export interface PendingReceipt {
  readonly receipt: ExecutionReceipt;
  readonly ledger?: SignedLedger;
  readonly targetAgentId: string | undefined;
}

/** Receipts that outlive the process. */
export interface ReceiptStore {
  /** Loads the receipts, oldest first. */
  load(): Promise<readonly PendingReceipt[]>;
  /** Saves a receipt; it is on disk when this resolves. */
  save(pendingReceipt: PendingReceipt): Promise<void>;
  delete(taskId: string): Promise<void>;
}

/**
 * Creates a store with one file per receipt in a folder. Receipts for another relay or of another
 * agent stay there in case the folder serves them again.
 */
export function createReceiptStore(options: {
  path: string;
  relayUrl: string;
  agentId: string;
  runtime: Pick<Runtime, "log">;
}): ReceiptStore {
  const { path, relayUrl, agentId, runtime } = options;
  let folderReady: Promise<void> | undefined;
  // The task id is hashed so that a relay cannot choose a file name.
  const buildFilePath = (taskId: string) => join(path, `${sha256Hex(taskId)}.json`);

  async function read(name: string): Promise<PendingReceipt | undefined> {
    const file = parseReceiptFile(await readFile(join(path, name), "utf8"));
    if (file === null) runtime.log("warn", "outbox.file_unreadable", { file: name });
    const isOurs = file?.relayUrl === relayUrl && file.pendingReceipt.receipt.agent_id === agentId;
    return isOurs ? file.pendingReceipt : undefined;
  }

  return {
    async load() {
      const names = (await listFiles(path)).filter((name) => name.endsWith(".json"));
      const pendingReceipts = await Promise.all(names.map(read));
      return pendingReceipts
        .filter((pendingReceipt) => pendingReceipt !== undefined)
        .toSorted((a, b) => a.receipt.completed_at - b.receipt.completed_at);
    },
    async save({ receipt, ledger, targetAgentId }) {
      folderReady ??= createPrivateFolder(path).catch((cause: unknown) => {
        folderReady = undefined;
        throw cause;
      });
      await folderReady;
      const file = { relay_url: relayUrl, target_agent_id: targetAgentId, receipt, ledger };
      await writePrivateFile(buildFilePath(receipt.task_id), file);
    },
    delete: (taskId) => rm(buildFilePath(taskId), { force: true }),
  };
}

async function listFiles(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (cause) {
    if (isMissingFile(cause)) return [];
    throw cause;
  }
}

function parseReceiptFile(
  text: string,
): { relayUrl: string; pendingReceipt: PendingReceipt } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const {
    relay_url: relayUrl,
    target_agent_id: targetAgentId,
    receipt,
    ledger,
  } = value as Partial<Record<string, unknown>>;
  const parsed = parseReceipt(receipt);
  if (typeof relayUrl !== "string" || !parsed.ok) return null;
  if (typeof targetAgentId !== "string" && targetAgentId !== undefined) return null;
  const pendingReceipt = { receipt: parsed.receipt, targetAgentId, ...readLedger(ledger) };
  return { relayUrl, pendingReceipt };
}

/** An unreadable ledger is left out, because the receipt beside it is worth money. */
function readLedger(value: unknown): { ledger?: SignedLedger } {
  const parsed = parseLedger(value);
  if (!parsed.ok || parsed.ledger.signature === undefined) return {};
  return { ledger: { ...parsed.ledger, signature: parsed.ledger.signature } };
}
