import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getLedger, getManifest } from "./read-ledger.ts";
import { storeLedger } from "./store-ledger.ts";

type LedgerHandlers = Pick<Handlers, "storeLedger" | "getLedger" | "getManifest">;

export function ledgerHandlers(services: Services): LedgerHandlers {
  return {
    storeLedger: ({ params }, { text }) => storeLedger(services, params.agentId, text),
    getLedger: ({ params }, { caller }) => getLedger(services, { ...params, caller }),
    getManifest: ({ params }, { caller }) => getManifest(services, { ...params, caller }),
  };
}
