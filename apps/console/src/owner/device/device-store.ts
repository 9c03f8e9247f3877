import type { BrowserKey } from "./browser-key.ts";

/** A claim that waits for the owner's confirmation at the terminal. */
export interface ClaimedDevice {
  readonly state: "claimed";
  readonly key: BrowserKey;
  /** Useless with any other key once it was claimed. */
  readonly code: string;
  readonly name: string;
}

/** A device of an agent. */
export interface PairedDevice {
  readonly state: "paired";
  readonly key: BrowserKey;
  readonly agentId: string;
  readonly deviceId: string;
}

export type KeptDevice = ClaimedDevice | PairedDevice;

const DATABASE = "agent-owner";
const STORE = "devices";
/** A browser can be one device of one agent. */
const ONLY_KEY = "device";

/** Reads the device that this browser stores. Its key remains non-exportable. */
export function loadDevice(): Promise<KeptDevice | undefined> {
  return withStore(
    "readonly",
    (store) => store.get(ONLY_KEY) as IDBRequest<KeptDevice | undefined>,
  );
}

export async function saveDevice(device: KeptDevice): Promise<void> {
  await withStore("readwrite", (store) => store.put(device, ONLY_KEY));
}

/** Deletes the device and its key. */
export async function deleteDevice(): Promise<void> {
  await withStore("readwrite", (store) => store.delete(ONLY_KEY));
}

async function withStore<Result>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(STORE));
  const database = await toPromise(opening);
  try {
    return await toPromise(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function toPromise<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("no storage")));
  });
}
