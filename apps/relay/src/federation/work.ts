import { limits } from "@agent/wire";
import { bookSettlement } from "./book-settlement.ts";
import { askPeerCancel } from "./ask-peer-cancel.ts";
import { deliverSettlement } from "./deliver-settlement.ts";
import { withStoredTrace } from "../http/trace.ts";
import type { Services } from "../services.ts";
import type { FederationServices } from "./federation.ts";
import { resendForward } from "./forward-task.ts";
import { dueInbound } from "./inbound-store.ts";
import { beatPeers } from "./notices.ts";
import { dueOutbound } from "./outbound-store.ts";
import { dueOutbox } from "./outbox-store.ts";
import { returnResult } from "./return-result.ts";

/** What a relay that federates does by itself; nobody who asks for it waits for a peer. */
export interface FederationWork {
  /** Begins all deliveries that are due. */
  readonly deliver: () => Promise<void>;
  readonly heartbeat: () => void;
  /** Begins nothing from now on. */
  readonly stop: () => void;
  /** Resolves when what was begun has ended. */
  readonly idle: () => Promise<void>;
}

/** Undefined while federation is off. */
export function startFederationWork(services: Services): FederationWork | undefined {
  const { federation, router } = services;
  return federation && createFederationWork({ ...services, federation }, router.takeBack);
}

/** `reroute` is told of a task that certainly did not arrive. */
function createFederationWork(
  services: FederationServices,
  reroute: (taskId: string) => void,
): FederationWork {
  const { storage, runtime, federation } = services;
  const underWay = new Map<string, Promise<void>>();
  let stopped = false;

  /** One of a name at a time, in the trace of the row that it is about. */
  function begin(name: string, work: () => Promise<void>, trace: string | null = null): void {
    if (stopped || underWay.has(name)) return;
    const running = withStoredTrace(trace, work)
      .catch((error: unknown) =>
        federation.log.error("federation.work_failed", { work: name, error: String(error) }),
      )
      .finally(() => underWay.delete(name));
    underWay.set(name, running);
  }

  async function deliver(): Promise<void> {
    if (stopped) return;
    const now = runtime.now();
    const room = limits.federationDeliveries - underWay.size;
    if (room <= 0) return;
    const [forwards, results, settlements] = await Promise.all([
      dueOutbound(storage.read, now, room),
      dueInbound(storage.read, now, room),
      dueOutbox(storage.read, now, room),
    ]);
    for (const { task_id, trace } of forwards) {
      const send = async () => {
        await resendForward(services, task_id, reroute);
        await askPeerCancel(services, task_id);
      };
      begin(`forward ${task_id}`, send, trace);
    }
    for (const { task_id, trace } of results) {
      const bring = () => returnResult(services, task_id, bookSettlement);
      begin(`result ${task_id}`, bring, trace);
    }
    for (const { settlement_id, trace } of settlements) {
      const deliver = () => deliverSettlement(services, settlement_id);
      begin(`settlement ${settlement_id}`, deliver, trace);
    }
  }

  federation.onWake(() => begin("deliver", deliver));
  return {
    deliver,
    heartbeat: () =>
      begin("heartbeat", async () => {
        await beatPeers(services);
        // While the relay is frozen nothing else may be begun.
        if (services.freezer.frozen() !== undefined) return;
        const untaken = [...federation.untaken];
        federation.untaken.clear();
        for (const taskId of untaken) reroute(taskId);
      }),
    stop() {
      stopped = true;
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}
