import type { Freezer } from "../admin/freeze.ts";
import type { Config } from "../config/config.ts";
import {
  formatStoredKey,
  isSealed,
  openStoredKey,
  type RelayIdentity,
} from "../identity/relay-identity.ts";
import type { Runtime } from "../runtime.ts";
import type { Storage, Tx } from "../storage/storage.ts";
import type { LogStateRow } from "../storage/tables/log.ts";
import { beginRestoredGeneration } from "./generation.ts";
import { findBeginning, findLogState, replaceRootKey, saveLogState } from "./store.ts";

type OpenLogResult =
  | {
      readonly ok: true;
      readonly state: LogStateRow;
      /** The seed from which the log's keys derive. */
      readonly rootKey: Uint8Array;
    }
  | {
      readonly ok: false;
      readonly code: "log.origin_changed" | "identity.unreadable";
      readonly detail: string;
    };

interface OpenLogDependencies {
  readonly storage: Storage;
  readonly freezer: Pick<Freezer, "incarnation" | "frozen">;
  readonly config: Pick<Config, "log" | "identity">;
  readonly identity: RelayIdentity;
  readonly runtime: Pick<Runtime, "now">;
}

/**
 * Loads the state of the transparency log, or creates it at the first start. An origin other than the
 * stored one prevents the start, because readers know the log by it.
 */
export async function openLog(dependencies: OpenLogDependencies): Promise<OpenLogResult> {
  const { storage, freezer, config, identity, runtime } = dependencies;
  const { isOn, origin = `agent-relay/${identity.relayId}` } = config.log;
  const stored = await findLogState(storage.read);
  if (stored !== undefined && config.log.origin !== undefined && stored.origin !== origin) {
    const detail = `AGENT_LOG_ORIGIN must remain ${stored.origin}`;
    return { ok: false, code: "log.origin_changed", detail };
  }
  const root = await openRootKey(stored, dependencies);
  if (!root.ok) return root;
  const { incarnation } = freezer;
  const now = runtime.now();
  const state = await storage.transaction(async (tx) => {
    const before = await findLogState(tx);
    const next =
      before === undefined
        ? createState({ origin, incarnation, isOn, beganAt: await findBeginning(tx, now) })
        : { ...before, ...(await switchLog(tx, before, { isOn, now })) };
    await saveLogState(tx, next);
    if (freezer.frozen() === undefined) await beginRestoredGeneration(tx, { incarnation, now });
    return (await findLogState(tx)) ?? next;
  });
  return { ok: true, state, rootKey: root.secretKey };
}

function createState({
  origin,
  incarnation,
  isOn,
  beganAt,
}: {
  readonly origin: string;
  readonly incarnation: number;
  readonly isOn: boolean;
  readonly beganAt: number;
}): LogStateRow {
  return {
    one: 1,
    origin,
    // A restored database may be the copy of one whose log began after the backup.
    generation: incarnation,
    incarnation,
    is_on: isOn ? 1 : 0,
    began_at: beganAt,
    keys_entered: 0,
    published: 0,
    root_key: null,
  };
}

/** Keys that were bound while the log was off are entered when it is on again. */
async function switchLog(
  tx: Tx,
  { is_on }: LogStateRow,
  { isOn, now }: { readonly isOn: boolean; readonly now: number },
): Promise<Partial<Pick<LogStateRow, "is_on" | "began_at" | "keys_entered">>> {
  if ((is_on === 1) === isOn) return {};
  return { is_on: isOn ? 1 : 0, began_at: await findBeginning(tx, now), keys_entered: 0 };
}

/** A passphrase that was set later seals the stored seed as well. */
async function openRootKey(
  state: LogStateRow | undefined,
  { storage, config, identity }: OpenLogDependencies,
) {
  const text = state?.root_key ?? null;
  if (text === null) return { ok: true, secretKey: identity.secretKey } as const;
  const { keyPassphrase: passphrase } = config.identity;
  const opened = await openStoredKey(text, passphrase);
  if (opened.ok && passphrase !== undefined && !isSealed(text)) {
    const sealed = await formatStoredKey(opened.secretKey, passphrase);
    await storage.transaction((tx) => replaceRootKey(tx, sealed));
    await storage.scrub();
  }
  return opened;
}
