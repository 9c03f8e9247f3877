import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { createTurns } from "../storage/create-turns.ts";
import { getLedger, getManifest } from "./read-ledger.ts";
import { storeLedger } from "./store-ledger.ts";

type LedgerHandlers = Pick<Handlers, "storeLedger" | "getLedger" | "getManifest">;

export function ledgerHandlers(services: Services): LedgerHandlers {
  const reading = { ...services, runInTurn: createTurns() };
  return {
    storeLedger: ({ params }, { text }) => storeLedger(services, params.agentId, text),
    getLedger: ({ params }, { caller }) => getLedger(reading, { ...params, caller }),
    getManifest: ({ params }, { caller }) => getManifest(reading, { ...params, caller }),
  };
}
