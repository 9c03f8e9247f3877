import type { RelayIdentity } from "../identity/relay-identity.ts";
import type { Services } from "../services.ts";
import type { Storage } from "../storage/storage.ts";
import { checkServedHead } from "./heads/check-served-head.ts";
import { openLog } from "./open-log.ts";
import { createRelayLog } from "./heads/relay-log.ts";
import { createHeadFile } from "./heads/head-file.ts";

type LogParts = Pick<
  Services,
  "storage" | "freezer" | "config" | "runtime" | "log" | "processes"
> & {
  readonly identity: RelayIdentity;
  readonly elapsed: () => number;
};

/** Opens the relay's log on a database, which may be frozen: `raw` writes to it nevertheless. */
export async function startLog(raw: Storage, parts: LogParts) {
  const opened = await openLog({ ...parts, storage: raw });
  if (!opened.ok) return opened;
  const served = createHeadFile(parts.config.storage.databasePath, "log-head");
  const relayLog = createRelayLog({ ...parts, served, opened });
  // A restored database begins another log when it is unfrozen.
  if (parts.freezer.frozen()?.restored !== true) {
    await checkServedHead(relayLog, parts.storage.read, served);
  }
  return { ok: true, relayLog } as const;
}
