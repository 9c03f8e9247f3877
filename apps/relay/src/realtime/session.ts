import {
  ClientMessage,
  limits,
  formatRefusal,
  refuse as refuseWith,
  socketClose,
  type Refusal,
  type ServerMessage,
  type Task,
} from "@agent/wire";
import { updateLastSeen } from "../agents/store.ts";
import type { createAuthenticator } from "../http/server/authenticate.ts";
import { parseJsonObject } from "../http/server/body.ts";
import { validate } from "../http/server/validate.ts";
import type { Caller, OperatorCaller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import { StorageFrozen } from "../storage/storage.ts";
import { listPendingTaskIds } from "../tasks/assignment/assignment-store.ts";
import { loadAnnouncement, saveAnnouncement } from "./announcements.ts";
import { meetsRequirements, type Connection } from "./connections.ts";
import { createMessageLimit } from "./message-limit.ts";
import { sendPendingTasks } from "./send-pending-tasks.ts";
import {
  handleClaim,
  handleProgress,
  handleRefuse,
  handleRelease,
  handleResult,
} from "./work-messages.ts";

/** What a session needs of its socket. */
export interface SocketTransport {
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

const MAX_COUNTED_TASKS = 1_000;

/**
 * One device's socket: it signs in, is told of its tasks, claims, reports and delivers
 * (docs/decisions.md, 4). `authorization` is the upgrade's header, if it had one.
 */
export function openSession(
  services: SessionServices,
  agentId: string,
  transport: SocketTransport,
  authorization: string | undefined,
): Session {
  const { runtime, storage, connections, log, router } = services;
  const checkMessageLimit = createMessageLimit(services.config.server.rateLimitScale);
  let signedIn: { connection: Connection; caller: Caller } | undefined;
  let sentIds: Set<string> | undefined;
  let catchingUp = Promise.resolve();
  let isReady = false;
  let isClosed = false;
  let cancelTimer = runtime.schedule(limits.socketAuthMs, () =>
    closeSession(socketClose.unauthorized, "not signed in within 5 s"),
  );

  /** From here on nothing is told to this device, and nothing that it still says counts. */
  function disconnect(): void {
    if (isClosed) return;
    isClosed = true;
    cancelTimer();
    if (signedIn === undefined) return;
    connections.remove(signedIn.connection);
    router.retryPendingFor(agentId);
  }

  function closeSession(code: number, reason: string): void {
    if (isClosed) return;
    disconnect();
    transport.close(code, reason);
  }

  function send(message: ServerMessage, written?: () => void): void {
    if (isClosed) return written?.();
    transport.send(JSON.stringify(message), written);
    if (transport.backlog() <= limits.socketBacklogBytes) return;
    log.warn("ws.reads_too_slowly", { agent_id: agentId });
    disconnect();
    transport.terminate();
  }

  function sendError(refusal: Refusal): void {
    send({ type: "error", code: refusal.code, message: formatRefusal(refusal) });
  }

  /** A token that ends closes its socket; a device sends a fresh one of its own before that. */
  function mayOpenSocket(caller: Caller): boolean {
    if (caller.kind === "master") return true;
    if (caller.kind !== "agent" || caller.agentId !== agentId) return false;
    if (!caller.scopes.has("socket")) return false;
    return signedIn === undefined || signedIn.connection.deviceId === caller.deviceId;
  }

  /** Ends the session when the operator's token is removed; answers how to stop waiting for that. */
  function endOnRemoval({ removed }: OperatorCaller): () => void {
    const onRemoval = () => closeSession(socketClose.unauthorized, "token removed");
    removed.addEventListener("abort", onRemoval, { once: true });
    if (removed.aborted) onRemoval();
    return () => removed.removeEventListener("abort", onRemoval);
  }

  async function signIn(header: string): Promise<void> {
    const authenticated = await services.authenticate(header);
    if (isClosed) return;
    if (!authenticated.ok)
      return closeSession(socketClose.unauthorized, formatRefusal(authenticated));
    const { caller } = authenticated;
    if (!mayOpenSocket(caller))
      return closeSession(socketClose.unauthorized, "not this agent's socket");
    cancelTimer();
    if (caller.kind === "agent") {
      cancelTimer = runtime.schedule(caller.expiresAt - runtime.now(), () =>
        closeSession(socketClose.unauthorized, "token expired"),
      );
    }
    if (caller.kind === "master") cancelTimer = endOnRemoval(caller);
    if (isClosed) return;
    if (signedIn !== undefined) {
      signedIn.caller = caller;
      return;
    }
    const connection = createConnection(caller);
    signedIn = { connection, caller };
    // At once, so that a key that changes from here on closes this socket too.
    connections.add(connection);
    startSession(connection).catch(handleFailure);
  }

  function createConnection(caller: Caller): Connection {
    return {
      id: newId(runtime),
      agentId,
      deviceId: caller.kind === "agent" ? caller.deviceId : null,
      capabilities: undefined,
      claimed: new Set(),
      send,
      offer,
      close: closeSession,
    };
  }

  async function startSession(connection: Connection): Promise<void> {
    const { deviceId: device_id } = connection;
    // A frozen relay writes nothing, and its devices wait with it.
    if (services.freezer.frozen() === undefined) {
      await storage.transaction((tx) => updateLastSeen(tx, agentId, runtime.now()));
    }
    const stored = await loadAnnouncement(storage.read, connection);
    connection.capabilities ??= stored.capabilities;
    if (stored.isAnnounced) connections.markAnnounced(agentId);
    const now = services.freezer.taskTime();
    const query = { executor: agentId, now, limit: MAX_COUNTED_TASKS };
    const pending = await listPendingTaskIds(storage.read, query);
    if (isClosed) return;
    log.info("ws.connected", { agent_id: agentId, device_id });
    send({ type: "ready", agent_id: agentId, device_id, pending: pending.length });
    isReady = true;
    const ability = connections.abilityOf(connection);
    await catchUp(({ required_capabilities: required }) => meetsRequirements(ability, required));
  }

  /** One after another, because each notes what it has told. */
  function catchUp(filter: (task: Task) => boolean): Promise<void> {
    catchingUp = catchingUp.then(() => sendOlderTasks(filter));
    return catchingUp;
  }

  /** Older tasks and new ones come at the same time, and each is told once. */
  async function sendOlderTasks(filter: (task: Task) => boolean): Promise<void> {
    sentIds = new Set();
    await sendPendingTasks(services, agentId, {
      filter,
      send: (task) => new Promise((resolve) => offer(task, () => resolve(!isClosed))),
    });
    sentIds = undefined;
  }

  function offer(task: Task, written?: () => void): void {
    const { task_id, expires_at } = task;
    // What comes before `ready` is stored already, and told with all that waits.
    if (!isReady || sentIds?.has(task_id) === true) return written?.();
    sentIds?.add(task_id);
    send({ type: "task_assigned", task, expires_at }, written);
  }

  /** What the device could not do before waits for it; what it could, it has been told. */
  async function updateCapabilities(
    connection: Connection,
    capabilities: readonly string[],
  ): Promise<void> {
    const before = connections.abilityOf(connection);
    connection.capabilities = capabilities;
    connections.markAnnounced(agentId);
    const now = connections.abilityOf(connection);
    if (services.freezer.frozen() === undefined) await saveAnnouncement(storage, connection);
    await catchUp(
      ({ required_capabilities: required }) =>
        meetsRequirements(now, required) && !meetsRequirements(before, required),
    );
  }

  async function handle(message: ClientMessage): Promise<void> {
    if (message.type === "auth") return signIn(`Bearer ${message.token}`);
    if (signedIn === undefined) return closeSession(socketClose.unauthorized, "sign in first");
    // Before anything is read: a task whose time stands still would look expired.
    if ("task_id" in message && services.freezer.frozen() !== undefined)
      return refuseWhileFrozen(message);
    const { connection } = signedIn;
    switch (message.type) {
      case "capabilities":
        return updateCapabilities(connection, message.capabilities);
      case "claim":
        return handleClaim(services, connection, message);
      case "refuse":
        return handleRefuse(services, connection, message);
      case "release":
        return handleRelease(services, connection, message);
      case "progress":
        return handleProgress(services, connection, message);
      case "result":
        return handleResult(services, connection, signedIn.caller, message);
      case "ping":
        return send({ type: "pong" });
    }
  }

  /** What cannot be written now can be said again later. */
  function refuseWhileFrozen(message: ClientMessage): void {
    const refusal = refuseWith("server.frozen");
    if (!("task_id" in message)) return sendError(refusal);
    const { task_id } = message;
    const type = message.type === "result" ? "result_refused" : "error";
    send({ type, task_id, code: refusal.code, message: formatRefusal(refusal) });
  }

  function handleFailure(error: unknown): void {
    log.error("ws.failed", { agent_id: agentId, error: String(error) });
    closeSession(1011, "internal error");
  }

  const initialSignIn =
    authorization === undefined ? undefined : signIn(authorization).catch(handleFailure);

  return {
    async message(text) {
      if (isClosed) return;
      const decision = checkMessageLimit(services.clock.elapsed());
      if (decision === "close")
        return closeSession(socketClose.tooManyMessages, "too many messages");
      if (decision === "refuse") return sendError(refuseWith("rate.exceeded"));
      if (signedIn === undefined) await initialSignIn;
      const parsed = parseMessage(text);
      try {
        if (parsed.ok) await handle(parsed.message);
        else if (signedIn === undefined) closeSession(socketClose.unauthorized, "sign in first");
        else sendError(parsed);
      } catch (error) {
        if (parsed.ok && error instanceof StorageFrozen) refuseWhileFrozen(parsed.message);
        else handleFailure(error);
      }
    },
    closed: disconnect,
  };
}

type ParsedMessage = { readonly ok: true; readonly message: ClientMessage } | Refusal;

function parseMessage(text: string): ParsedMessage {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) return parsed;
  const checked = validate(ClientMessage, parsed.value);
  return checked.ok ? { ok: true, message: checked.value as ClientMessage } : checked;
}
