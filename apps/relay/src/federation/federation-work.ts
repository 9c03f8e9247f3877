import { limits } from "@agent/wire";
import { receiveSettlement } from "./settlement/receive-settlement.ts";
import { sendCancelNotice } from "./cancellation/send-cancel-notice.ts";
import { sendPeerCancel } from "./cancellation/send-peer-cancel.ts";
import { sendSettlement } from "./settlement/send-settlement.ts";
import { withStoredTrace } from "../observability/trace.ts";
import type { Services } from "../services.ts";
import type { FederationServices } from "./federation-services.ts";
import {
  listDueDeliveries,
  claimDueDeliveries,
  type DueDeliveries,
  type DueQuery,
} from "./due-store.ts";
import type { Storage } from "../storage/storage.ts";
import { resendForward } from "./outbound/forward-task.ts";
import { sendHeartbeats } from "./peering/heartbeat.ts";
import { sendResult } from "./inbound/send-result.ts";

/** The background work of a federated relay, so that no request waits for a peer. */
export interface FederationWork {
  /** Starts all deliveries that are due. */
  readonly deliver: () => Promise<void>;
  readonly heartbeat: () => void;
  /** Tries the tasks again that no peer has accepted, once the heartbeats that are being sent have ended. */
  readonly retryUndelivered: () => void;
  /** Starts nothing from now on. */
  readonly stop: () => void;
  /** Resolves when all started work has ended. */
  readonly idle: () => Promise<void>;
}

/** Returns undefined while federation is off. */
export function startFederationWork(services: Services): FederationWork | undefined {
  const { federation, router } = services;
  return federation && createFederationWork({ ...services, federation }, router.reassignStalled);
}

/** Calls `reroute` with each task that certainly did not arrive. */
function createFederationWork(
  services: FederationServices,
  reroute: (taskId: string) => void,
): FederationWork {
  const { storage, runtime, federation } = services;
  const inFlight = new Map<string, Promise<void>>();
  let stopped = false;

  /** Runs one piece of work per name at a time, in the trace of the row that it handles. */
  function begin(name: string, work: () => Promise<void>, trace: string | null = null): void {
    if (stopped || inFlight.has(name)) return;
    const running = withStoredTrace(trace, work)
      .catch((error: unknown) =>
        federation.log.error("federation.work_failed", { work: name, error: String(error) }),
      )
      .finally(() => inFlight.delete(name));
    inFlight.set(name, running);
  }

  async function deliver(): Promise<void> {
    if (stopped) return;
    const now = runtime.now();
    const capacity = limits.federationDeliveries - inFlight.size;
    if (capacity <= 0) return;
    const due = { now, limit: capacity };
    const { forwards, results, settlements } = await findDue(storage, due);
    for (const { id: task_id, trace } of forwards) {
      const send = async () => {
        await resendForward(services, task_id, reroute);
        await sendPeerCancel(services, task_id);
      };
      begin(`forward ${task_id}`, send, trace);
    }
    for (const { id: task_id, trace } of results) {
      const sendBack = async () => {
        await sendCancelNotice(services, task_id);
        await sendResult(services, task_id, receiveSettlement);
      };
      begin(`result ${task_id}`, sendBack, trace);
    }
    for (const { id: settlement_id, trace } of settlements) {
      const settle = () => sendSettlement(services, settlement_id);
      begin(`settlement ${settlement_id}`, settle, trace);
    }
  }

  federation.onWake(() => begin("deliver", deliver));
  return {
    deliver,
    heartbeat: () => begin("heartbeat", () => sendHeartbeats(services)),
    retryUndelivered: () =>
      begin("undelivered", async () => {
        await inFlight.get("heartbeat");
        // A frozen relay must start no other work.
        if (services.freezer.frozen() !== undefined) return;
        const undelivered = [...federation.undeliveredTasks];
        federation.undeliveredTasks.clear();
        for (const taskId of undelivered) reroute(taskId);
      }),
    stop() {
      stopped = true;
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}

/** Lists what is due; with several processes only what this one has claimed. */
async function findDue(storage: Storage, query: DueQuery): Promise<DueDeliveries> {
  const due = await listDueDeliveries(storage.read, query);
  const isAnyDue = Object.values(due).some((rows) => rows.length > 0);
  if (!storage.isShared || !isAnyDue) return due;
  return storage.transaction((tx) => claimDueDeliveries(tx, query));
}
