import {
  ClientMessage,
  errors,
  limits,
  socketClose,
  type Code,
  type ServerMessage,
} from "@agent/wire";
import * as v from "valibot";
import { touchAgent } from "../agents/store.ts";
import { parseObject } from "../http/body.ts";
import type { createAuthenticator } from "../http/authenticate.ts";
import type { Caller } from "../identity/caller.ts";
import { passOn, routeTask, type RouteServices } from "../routing/route-task.ts";
import { newId } from "../runtime.ts";
import { acceptReceipt } from "../tasks/accept-receipt.ts";
import { claimPending, findTask, openTasksOf, releaseClaim, renewLease } from "../tasks/store.ts";
import { taskOf } from "../tasks/view.ts";
import { workerOf, type Connection } from "./connections.ts";
import { createMessageLimit } from "./message-limit.ts";

/** What a session needs of its socket. */
export interface Wire {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Bytes that were sent and not yet taken. */
  backlog(): number;
}

export type SessionServices = RouteServices & {
  readonly authenticate: ReturnType<typeof createAuthenticator>;
};

export interface Session {
  message(text: string): Promise<void>;
  closed(): void;
}

const offeredAtOnce = 200;

/**
 * One device's socket: it signs in, is told of its tasks, claims, reports and delivers
 * (docs/decisions.md, 4). `caller` is already known when the upgrade carried the token.
 */
export function openSession(
  services: SessionServices,
  agentId: string,
  wire: Wire,
  caller: Caller | undefined,
): Session {
  const { runtime, storage, connections, log, config } = services;
  const mayTake = createMessageLimit(config.server.rateLimitScale);
  let connection: Connection | undefined;
  let cancelTimer = runtime.schedule(limits.socketAuthMs, () =>
    wire.close(socketClose.unauthorized, "not signed in within 5 s"),
  );

  function send(message: ServerMessage): void {
    wire.send(JSON.stringify(message));
    if (wire.backlog() > limits.socketBacklogBytes) wire.close(1013, "reads too slowly");
  }

  function fail(code: Code, taskId?: string): void {
    send({
      type: "error",
      code,
      message: errors[code].text,
      ...(taskId !== undefined && { task_id: taskId }),
    });
  }

  /** A token that ends closes its socket; a device sends a fresh one before that. */
  function admit(known: Caller): boolean {
    if (known.kind === "anonymous") return false;
    if (known.kind === "agent" && (known.agentId !== agentId || !known.scopes.has("socket"))) {
      return false;
    }
    cancelTimer();
    if (known.kind === "agent") {
      cancelTimer = runtime.schedule(known.expiresAt - runtime.now(), () =>
        wire.close(socketClose.unauthorized, "token expired"),
      );
    }
    return true;
  }

  async function start(known: Caller): Promise<void> {
    if (!admit(known)) return wire.close(socketClose.unauthorized, "not this agent's socket");
    if (connection !== undefined) return;
    connection = {
      id: newId(runtime),
      agentId,
      deviceId: known.kind === "agent" ? known.deviceId : null,
      capabilities: undefined,
      offered: new Set(),
      claimed: new Set(),
      send,
      close: (code, reason) => wire.close(code, reason),
    };
    connections.add(connection);
    log.info("ws.connected", { agent_id: agentId, device_id: connection.deviceId });
    await storage.transaction((tx) => touchAgent(tx, agentId, runtime.now()));
    const open = await openTasksOf(storage.read, agentId, offeredAtOnce);
    const pending = open.filter((task) => task.status === "pending");
    send({
      type: "ready",
      agent_id: agentId,
      device_id: connection.deviceId,
      pending: pending.length,
    });
    for (const task of pending) {
      connection.offered.add(task.task_id);
      send({ type: "task_assigned", task: taskOf(task), expires_at: task.expires_at });
    }
  }

  async function claim(own: Connection, taskId: string): Promise<void> {
    const now = runtime.now();
    const leaseUntil = now + limits.claimLeaseMs;
    const request = { task_id: taskId, executor: agentId, claimed_by: workerOf(own), now };
    const claimed = await storage.transaction((tx) =>
      claimPending(tx, { ...request, lease_until: leaseUntil }),
    );
    own.offered.delete(taskId);
    if (claimed === undefined) return fail("task.not_pending", taskId);
    services.waiters.changed(taskId);
    own.claimed.add(taskId);
    send({ type: "claimed", task_id: taskId, lease_until: leaseUntil });
  }

  async function refuse(own: Connection, taskId: string, reason: string): Promise<void> {
    own.offered.delete(taskId);
    own.claimed.delete(taskId);
    await storage.transaction((tx) =>
      releaseClaim(tx, { task_id: taskId, claimed_by: workerOf(own) }),
    );
    log.info("task.refused", { correlationId: taskId, agent_id: agentId, reason });
    await passOn(services, taskId, agentId);
  }

  async function progress(own: Connection, taskId: string): Promise<void> {
    const renewed = await storage.transaction((tx) =>
      renewLease(tx, {
        task_id: taskId,
        claimed_by: workerOf(own),
        lease_until: runtime.now() + limits.claimLeaseMs,
      }),
    );
    if (!renewed) fail("task.not_found", taskId);
  }

  async function result(own: Connection, known: Caller, taskId: string, receipt: object) {
    const task = await findTask(storage.read, taskId);
    const answer = await acceptReceipt(services, {
      agentId: task?.agent_id ?? agentId,
      taskId,
      value: receipt,
      text: JSON.stringify(receipt),
      caller: known,
    });
    own.offered.delete(taskId);
    own.claimed.delete(taskId);
    if ("ok" in answer) {
      const message = errors[answer.code].text;
      return send({ type: "result_refused", task_id: taskId, code: answer.code, message });
    }
    return send({ type: "result_accepted", task_id: taskId, status: answer.body.status });
  }

  let known: Caller | undefined = caller;

  async function handle(message: ClientMessage): Promise<void> {
    if (message.type === "auth") {
      const signedIn = await services.authenticate(`Bearer ${message.token}`);
      if (!signedIn.ok) return wire.close(socketClose.unauthorized, errors[signedIn.code].text);
      known = signedIn.caller;
      return start(known);
    }
    if (connection === undefined || known === undefined) {
      return wire.close(socketClose.unauthorized, "sign in first");
    }
    switch (message.type) {
      case "capabilities":
        connection.capabilities = message.capabilities;
        return;
      case "claim":
        return claim(connection, message.task_id);
      case "refuse":
        return refuse(connection, message.task_id, message.reason ?? "");
      case "progress":
        return progress(connection, message.task_id);
      case "result":
        return result(connection, known, message.task_id, message.receipt);
      case "ping":
        return send({ type: "pong" });
    }
  }

  if (caller !== undefined) void start(caller).catch(failed);

  function failed(error: unknown): void {
    log.error("ws.failed", { agent_id: agentId, error: String(error) });
    wire.close(1011, "internal error");
  }

  return {
    async message(text) {
      const verdict = mayTake(runtime.now());
      if (verdict === "close") {
        return wire.close(socketClose.tooManyMessages, "too many messages");
      }
      if (verdict === "refuse") return fail("rate.exceeded");
      try {
        const parsed = parseMessage(text);
        if (parsed === undefined) return fail("request.invalid");
        await handle(parsed);
      } catch (error) {
        failed(error);
      }
    },

    closed() {
      cancelTimer();
      if (connection === undefined) return;
      connections.remove(connection);
      // What was offered here and not claimed is brought to somebody else at once.
      for (const taskId of connection.offered) void routeTask(services, taskId).catch(failed);
    },
  };
}

function parseMessage(text: string): ClientMessage | undefined {
  const parsed = parseObject(text);
  if (!parsed.ok) return undefined;
  const checked = v.safeParse(ClientMessage, parsed.value);
  return checked.success ? checked.output : undefined;
}
