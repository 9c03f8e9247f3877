import { entryOf, isSameArtifact } from "@agent/transparency";
import type { Storage, Tx } from "../../storage/storage.ts";
import { appendLog } from "./append.ts";
import { findEntries, getArtifactHash } from "./find-entries.ts";
import { listDeviceKeyPage, listOwnKeyPage, type KeyPageRow } from "./key-page-store.ts";
import { listUncoveredEntries } from "./list-uncovered-entries.ts";

/** Few enough that one transaction, which looks each key up in the index, delays the others by 10 ms or so. */
const PAGE_KEYS = 256;

/**
 * Logs the keys that were bound or ended before the log began or while it was off: each key in force
 * without an entry, and each ended key whose end has none. A head is signed after each page, because a page
 * is compared with every entry that no head covers.
 */
export async function enterKeys(
  storage: Storage,
  now: () => number,
  signHeads: () => Promise<void>,
): Promise<void> {
  for (const listPage of [listOwnKeyPage, listDeviceKeyPage]) {
    let after = { agent_id: "", key: "" };
    for (let isLast = false; !isLast;) {
      const from = after;
      const page = await storage.transaction(async (tx) => {
        const rows = await listPage(tx, { ...from, limit: PAGE_KEYS });
        await enterPage(tx, rows, now());
        return rows;
      });
      await signHeads();
      const last = page.at(-1);
      isLast = page.length < PAGE_KEYS || last === undefined;
      if (last !== undefined) after = { agent_id: last.agent_id, key: last.key };
    }
  }
}

async function enterPage(tx: Tx, rows: readonly KeyPageRow[], time: number): Promise<void> {
  if (rows.length === 0) return;
  const recent = await listUncoveredEntries(tx);
  for (const row of rows) {
    const { valid_until } = row;
    const entry =
      valid_until === null
        ? entryOf.keyBound(row, { time })
        : entryOf.keyEnded({ ...row, valid_until }, { time });
    const hash = getArtifactHash(entry)!;
    const found = (await findEntries(tx, hash)).map((each) => each.entry);
    const known = [...found, ...(recent.get(hash) ?? [])];
    if (!known.some((each) => isSameArtifact(each, entry))) await appendLog(tx, () => entry);
  }
}
