import { capSettlementDelay } from "@agent/federation-protocol/settlement";
import { withStoredTrace } from "../../observability/trace.ts";
import type { Services } from "../../services.ts";
import { findOutbox, listOutboxAhead, saveOutboxEntry } from "./outbox-store.ts";

const PAGE_SIZE = 500;

/**
 * Schedules the next steps of settlements earlier after the relay's clock was set back. Otherwise, attempts
 * that failed at a wrong time, when peers refuse all messages, would be repeated only after the length of
 * the jump.
 */
export async function capSettlementDelays({
  storage,
  runtime,
  federation,
}: Pick<Services, "storage" | "runtime" | "federation">): Promise<void> {
  if (federation === undefined) return;
  const { schedule } = federation;
  for (let after: string | undefined = ""; after !== undefined;) {
    const now = runtime.now();
    const query = { from: now, after, limit: PAGE_SIZE };
    const ids: string[] = (await listOutboxAhead(storage.read, query)).map(
      ({ settlement }) => settlement.settlementId,
    );
    for (const id of ids) {
      await storage.transaction(async (tx) => {
        const entry = await findOutbox(tx, id);
        if (entry === undefined) return;
        const settlement = capSettlementDelay(entry.settlement, { ...schedule, now });
        if (settlement === entry.settlement) return;
        // No request caused this step, so the row retains its trace.
        await withStoredTrace(null, () => saveOutboxEntry(tx, { ...entry, settlement }));
      });
    }
    after = ids.length < PAGE_SIZE ? undefined : ids.at(-1);
  }
}
