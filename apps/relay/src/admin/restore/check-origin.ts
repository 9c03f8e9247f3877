import type { Storage } from "../../storage/storage.ts";
import { findDatabaseOrigin, saveDatabaseOrigin } from "./incarnation-store.ts";

/**
 * Refuses a database other than the one in which the relay last started, because a restored or copied one
 * may lack payments. The first start records the database. Refused: `database.restored`.
 */
export async function checkDatabaseOrigin(
  storage: Storage,
): Promise<
  { readonly ok: true } | { readonly ok: false; readonly code: string; readonly detail: string }
> {
  const origin = await findDatabaseOrigin(storage.read);
  if (origin === undefined || origin.current === origin.stored) return { ok: true };
  if (origin.stored === null) {
    await storage.transaction((tx) => saveDatabaseOrigin(tx));
    return { ok: true };
  }
  return {
    ok: false,
    code: "database.restored",
    detail: `this is another database (${origin.current}) than the relay ran in (${origin.stored}): run \`agent-relay restored\`, then compare payments`,
  };
}
