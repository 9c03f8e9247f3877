import {
  ClientMessage,
  limits,
  refusalText,
  refuse as refuseWith,
  socketClose,
  type Refusal,
  type ServerMessage,
  type Task,
} from "@agent/wire";
import { touchAgent } from "../agents/store.ts";
import type { createAuthenticator } from "../http/authenticate.ts";
import { parseObject } from "../http/body.ts";
import { validate } from "../http/validate.ts";
import type { Caller, OperatorCaller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import { StorageFrozen } from "../storage/storage.ts";
import { pendingTaskIds } from "../tasks/assignment-store.ts";
import { storedAnnouncement, storeAnnouncement } from "./announcements.ts";
import { serves, type Connection } from "./connections.ts";
import { createMessageLimit } from "./message-limit.ts";
import { tellPending } from "./tell-pending.ts";
import { claim, progress, refuse, release, result } from "./work-messages.ts";

/** What a session needs of its socket. */
export interface Wire {
  /** `written` is called when the text is on its way, or never will be. */
  send(text: string, written?: () => void): void;
  /** Says why, and ends the connection once the other side has read what was sent. */
  close(code: number, reason: string): void;
  /** Ends the connection at once. */
  terminate(): void;
  /** Bytes that were sent and not yet taken. */
  backlog(): number;
}

export type SessionServices = Services & {
  readonly authenticate: ReturnType<typeof createAuthenticator>;
};

export interface Session {
  message(text: string): Promise<void>;
  closed(): void;
}

const countedAtMost = 1_000;

/**
 * One device's socket: it signs in, is told of its tasks, claims, reports and delivers
 * (docs/decisions.md, 4). `authorization` is the upgrade's header, if it had one.
 */
export function openSession(
  services: SessionServices,
  agentId: string,
  wire: Wire,
  authorization: string | undefined,
): Session {
  const { runtime, storage, connections, log, router } = services;
  const mayTake = createMessageLimit(services.config.server.rateLimitScale);
  let signedIn: { connection: Connection; caller: Caller } | undefined;
  let told: Set<string> | undefined;
  let catchingUp = Promise.resolve();
  let ready = false;
  let over = false;
  let cancelTimer = runtime.schedule(limits.socketAuthMs, () =>
    end(socketClose.unauthorized, "not signed in within 5 s"),
  );

  /** From here on nothing is told to this device, and nothing that it still says counts. */
  function leave(): void {
    if (over) return;
    over = true;
    cancelTimer();
    if (signedIn === undefined) return;
    connections.remove(signedIn.connection);
    router.bringWaiting(agentId);
  }

  function end(code: number, reason: string): void {
    if (over) return;
    leave();
    wire.close(code, reason);
  }

  function send(message: ServerMessage, written?: () => void): void {
    if (over) return written?.();
    wire.send(JSON.stringify(message), written);
    if (wire.backlog() <= limits.socketBacklogBytes) return;
    log.warn("ws.reads_too_slowly", { agent_id: agentId });
    leave();
    wire.terminate();
  }

  function fail(refusal: Refusal): void {
    send({ type: "error", code: refusal.code, message: refusalText(refusal) });
  }

  /** A token that ends closes its socket; a device sends a fresh one of its own before that. */
  function admits(known: Caller): boolean {
    if (known.kind === "master") return true;
    if (known.kind !== "agent" || known.agentId !== agentId) return false;
    if (!known.scopes.has("socket")) return false;
    return signedIn === undefined || signedIn.connection.deviceId === known.deviceId;
  }

  /** Ends the session when the operator's token is removed; answers how to stop waiting for that. */
  function endOnRemoval({ removed }: OperatorCaller): () => void {
    const onRemoval = () => end(socketClose.unauthorized, "token removed");
    removed.addEventListener("abort", onRemoval, { once: true });
    if (removed.aborted) onRemoval();
    return () => removed.removeEventListener("abort", onRemoval);
  }

  async function signIn(header: string): Promise<void> {
    const judged = await services.authenticate(header);
    if (over) return;
    if (!judged.ok) return end(socketClose.unauthorized, refusalText(judged));
    const { caller: known } = judged;
    if (!admits(known)) return end(socketClose.unauthorized, "not this agent's socket");
    cancelTimer();
    if (known.kind === "agent") {
      cancelTimer = runtime.schedule(known.expiresAt - runtime.now(), () =>
        end(socketClose.unauthorized, "token expired"),
      );
    }
    if (known.kind === "master") cancelTimer = endOnRemoval(known);
    if (over) return;
    if (signedIn !== undefined) {
      signedIn.caller = known;
      return;
    }
    const connection = connectionOf(known);
    signedIn = { connection, caller: known };
    // At once, so that a key that changes from here on closes this socket too.
    connections.add(connection);
    welcome(connection).catch(failed);
  }

  function connectionOf(known: Caller): Connection {
    return {
      id: newId(runtime),
      agentId,
      deviceId: known.kind === "agent" ? known.deviceId : null,
      capabilities: undefined,
      claimed: new Set(),
      send,
      offer,
      close: end,
    };
  }

  async function welcome(connection: Connection): Promise<void> {
    const { deviceId: device_id } = connection;
    // A frozen relay writes nothing, and its devices wait with it.
    if (services.freezer.frozen() === undefined) {
      await storage.transaction((tx) => touchAgent(tx, agentId, runtime.now()));
    }
    const stored = await storedAnnouncement(storage.read, connection);
    connection.capabilities ??= stored.capabilities;
    if (stored.isAnnounced) connections.announced(agentId);
    const now = services.freezer.taskTime();
    const query = { executor: agentId, now, limit: countedAtMost };
    const pending = await pendingTaskIds(storage.read, query);
    if (over) return;
    log.info("ws.connected", { agent_id: agentId, device_id });
    send({ type: "ready", agent_id: agentId, device_id, pending: pending.length });
    ready = true;
    const ability = connections.abilityOf(connection);
    await catchUp(({ required_capabilities: required }) => serves(ability, required));
  }

  /** One after another, because each notes what it has told. */
  function catchUp(wants: (task: Task) => boolean): Promise<void> {
    catchingUp = catchingUp.then(() => sendOlder(wants));
    return catchingUp;
  }

  /** Older tasks and new ones come at the same time, and each is told once. */
  async function sendOlder(wants: (task: Task) => boolean): Promise<void> {
    told = new Set();
    await tellPending(services, agentId, {
      wants,
      tell: (task) => new Promise((resolve) => offer(task, () => resolve(!over))),
    });
    told = undefined;
  }

  function offer(task: Task, written?: () => void): void {
    const { task_id, expires_at } = task;
    // What comes before `ready` is stored already, and told with all that waits.
    if (!ready || told?.has(task_id) === true) return written?.();
    told?.add(task_id);
    send({ type: "task_assigned", task, expires_at }, written);
  }

  /** What the device could not do before waits for it; what it could, it has been told. */
  async function learn(connection: Connection, capabilities: readonly string[]): Promise<void> {
    const before = connections.abilityOf(connection);
    connection.capabilities = capabilities;
    connections.announced(agentId);
    const now = connections.abilityOf(connection);
    if (services.freezer.frozen() === undefined) await storeAnnouncement(storage, connection);
    await catchUp(
      ({ required_capabilities: required }) => serves(now, required) && !serves(before, required),
    );
  }

  async function handle(message: ClientMessage): Promise<void> {
    if (message.type === "auth") return signIn(`Bearer ${message.token}`);
    if (signedIn === undefined) return end(socketClose.unauthorized, "sign in first");
    // Before anything is read: a task whose time stands still would look expired.
    if ("task_id" in message && services.freezer.frozen() !== undefined) return putOff(message);
    const { connection } = signedIn;
    switch (message.type) {
      case "capabilities":
        return learn(connection, message.capabilities);
      case "claim":
        return claim(services, connection, message);
      case "refuse":
        return refuse(services, connection, message);
      case "release":
        return release(services, connection, message);
      case "progress":
        return progress(services, connection, message);
      case "result":
        return result(services, connection, signedIn.caller, message);
      case "ping":
        return send({ type: "pong" });
    }
  }

  /** What cannot be written now can be said again later. */
  function putOff(message: ClientMessage): void {
    const refusal = refuseWith("server.frozen");
    if (!("task_id" in message)) return fail(refusal);
    const { task_id } = message;
    const type = message.type === "result" ? "result_refused" : "error";
    send({ type, task_id, code: refusal.code, message: refusalText(refusal) });
  }

  function failed(error: unknown): void {
    log.error("ws.failed", { agent_id: agentId, error: String(error) });
    end(1011, "internal error");
  }

  const admitted = authorization === undefined ? undefined : signIn(authorization).catch(failed);

  return {
    async message(text) {
      if (over) return;
      const verdict = mayTake(services.clock.elapsed());
      if (verdict === "close") return end(socketClose.tooManyMessages, "too many messages");
      if (verdict === "refuse") return fail(refuseWith("rate.exceeded"));
      if (signedIn === undefined) await admitted;
      const parsed = parseMessage(text);
      try {
        if (parsed.ok) await handle(parsed.message);
        else if (signedIn === undefined) end(socketClose.unauthorized, "sign in first");
        else fail(parsed);
      } catch (error) {
        if (parsed.ok && error instanceof StorageFrozen) putOff(parsed.message);
        else failed(error);
      }
    },
    closed: leave,
  };
}

type ParsedMessage = { readonly ok: true; readonly message: ClientMessage } | Refusal;

function parseMessage(text: string): ParsedMessage {
  const parsed = parseObject(text);
  if (!parsed.ok) return parsed;
  const checked = validate(ClientMessage, parsed.value);
  return checked.ok ? { ok: true, message: checked.value as ClientMessage } : checked;
}
