import { BoundedMap } from "@agent/crypto";
import {
  limits,
  formatRefusal,
  type ClientMessage,
  type ServerMessage,
  type Task,
} from "@agent/wire";
import { markStopped, updateLastSeen } from "../agents/store.ts";
import type { createAuthenticator } from "../http/server/authenticate.ts";
import { hasCallerEnded, type Caller, type OperatorCaller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import { StorageFrozen } from "../storage/storage.ts";
import { listPendingTaskIds } from "../tasks/assignment/assignment-store.ts";
import { loadAnnouncement, saveAnnouncement } from "./announcements.ts";
import { meetsRequirements, type Connection } from "./connections.ts";
import { createMessageLimit } from "./message-limit.ts";
import { parseClientMessage } from "./parse-client-message.ts";
import {
  applySessionEvent,
  canSendTask,
  createSession,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
} from "./session-state.ts";
import { sendPendingTasks } from "./send-pending-tasks.ts";
import { handleWorkMessage, type WorkMessage } from "./work-messages.ts";

/** The socket as a session uses it. */
export interface SocketTransport {
  /** Calls `written` once the text was written, or never will be. */
  send(text: string, written?: () => void): void;
  /** Sends the reason, and ends the connection once the other side has read all before it. */
  close(code: number, reason: string): void;
  /** Ends the connection at once. */
  terminate(): void;
  /** Returns the number of bytes that still wait to be written. */
  backlog(): number;
}

export type SessionServices = Services & {
  readonly authenticate: ReturnType<typeof createAuthenticator>;
};

export interface Session {
  message(text: string): Promise<void>;
  /** The socket has closed, with the code of the side that closed it first. */
  closed(code: number): void;
}

/** RFC 6455, 7.4.1. */
const NORMAL_CLOSURE = 1_000;

const MAX_COUNTED = 1_000;

/** The newest tasks sent to a device that are known as sent; an older one may be sent once more. */
const MAX_SENT_TASKS = 1_000;

/**
 * Serves one device's socket: it signs in, receives tasks, claims them, reports progress and
 * delivers results (docs/decisions.md, 4). `authorization` is the upgrade's header, if present.
 */
export function openSession(
  services: SessionServices,
  agentId: string,
  transport: SocketTransport,
  authorization: string | undefined,
): Session {
  return new SocketSession(services, agentId, transport, authorization);
}

/** Runs the effects of the state machine in `session-state.ts`, and reports events to it. */
class SocketSession implements Session {
  readonly #services: SessionServices;
  readonly #agentId: string;
  readonly #transport: SocketTransport;
  readonly #checkRate: ReturnType<typeof createMessageLimit>;
  readonly #headerSignIn: Promise<void> | undefined;
  #state: SessionState;
  /** Set once the device has signed in. */
  #connection: Connection | undefined;
  #stopAwaiting = () => {};
  #catchingUp = Promise.resolve();
  /** Tasks that the current catch-up has sent, or that arrived during it. */
  #sent = new Set<string>();

  constructor(
    services: SessionServices,
    agentId: string,
    transport: SocketTransport,
    authorization: string | undefined,
  ) {
    this.#services = services;
    this.#agentId = agentId;
    this.#transport = transport;
    this.#checkRate = createMessageLimit(services.config.server.rateLimitScale);
    const { state, effects } = createSession(agentId);
    this.#state = state;
    this.#runAll(effects);
    if (authorization !== undefined) this.#headerSignIn = this.#guard(this.#signIn(authorization));
  }

  message(text: string): Promise<void> {
    return this.#guard(this.#receive(text));
  }

  closed(code: number): void {
    const isByDevice = this.#state.name !== "closed";
    this.#apply({ type: "disconnected" });
    if (isByDevice && code === NORMAL_CLOSURE) void this.#guard(this.#recordStop());
  }

  /** A device that closes its socket in order stops; one that lost its connection is expected back. */
  async #recordStop(): Promise<void> {
    const { storage, runtime, connections, freezer } = this.#services;
    const device_id = this.#connection?.deviceId ?? undefined;
    const agent_id = this.#agentId;
    if (device_id === undefined || connections.isOnline(agent_id)) return;
    if (freezer.frozen() !== undefined) return;
    await storage.transaction((tx) => markStopped(tx, { agent_id, device_id, now: runtime.now() }));
  }

  async #receive(text: string): Promise<void> {
    if (this.#state.name === "closed") return;
    const { clock, freezer } = this.#services;
    const decision = this.#checkRate(clock.elapsed());
    if (decision !== "take") {
      return this.#apply({ type: "rate_exceeded", isPersistent: decision === "close" });
    }
    // The header's token is in effect from the first message on.
    if (this.#state.name === "unauthenticated") await this.#headerSignIn;
    const parsed = parseClientMessage(text);
    if (!parsed.ok) return this.#apply({ type: "unreadable_received", refusal: parsed });
    const freezeReason = freezer.frozen()?.reason;
    this.#apply({ type: "received", message: parsed.message, freezeReason });
  }

  #apply(event: SessionEvent): void {
    const { state, effects } = applySessionEvent(this.#state, event, this.#services.runtime.now());
    this.#state = state;
    this.#runAll(effects);
  }

  #runAll(effects: readonly SessionEffect[]): void {
    for (const effect of effects) this.#run(effect);
  }

  #run(effect: SessionEffect): void {
    const { connections, router } = this.#services;
    switch (effect.type) {
      case "send":
        return this.#send(effect.message);
      case "close":
        return this.#transport.close(effect.code, effect.reason);
      case "terminate":
        return this.#transport.terminate();
      case "await_expiry":
        return this.#awaitExpiry(effect.ms);
      case "await_removal":
        return this.#awaitRemoval(effect.caller);
      case "stop_awaiting":
        return this.#stopAwaiting();
      case "authenticate":
        return void this.#guard(this.#signIn(`Bearer ${effect.message.token}`), effect.message);
      case "join":
        return this.#join(effect.deviceId);
      case "leave":
        connections.remove(this.#joined());
        return router.retryPendingFor(this.#agentId);
      case "catch_up":
        return void this.#guard(this.#catchUpAll());
      case "announce":
        return void this.#guard(this.#announce(effect.message.capabilities), effect.message);
      case "work":
        return void this.#guard(this.#work(effect.message, effect.caller), effect.message);
    }
  }

  /** Ends the session when `work` fails; a message that met a frozen storage is only postponed. */
  async #guard(work: Promise<void>, message?: ClientMessage): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (message !== undefined && error instanceof StorageFrozen) {
        return this.#apply({ type: "postponed", message, freezeReason: error.reason });
      }
      this.#services.log.error("ws.failed", { agent_id: this.#agentId, error: String(error) });
      this.#apply({ type: "close_requested", code: 1011, reason: "internal error" });
    }
  }

  #joined(): Connection {
    if (this.#connection === undefined) throw new Error("session has no connection");
    return this.#connection;
  }

  #send(message: ServerMessage, written?: () => void): void {
    if (this.#state.name === "closed") return written?.();
    this.#transport.send(JSON.stringify(message), written);
    if (this.#transport.backlog() <= limits.socketBacklogBytes) return;
    this.#services.log.warn("ws.reads_too_slowly", { agent_id: this.#agentId });
    this.#apply({ type: "backlog_exceeded" });
  }

  #sendTask(task: Task, written?: () => void): void {
    const { task_id, expires_at, event_id = 0 } = task;
    if (!canSendTask(this.#state, this.#sent.has(task_id))) return written?.();
    this.#connection?.sentTasks.set(task_id, event_id);
    if (this.#state.name === "catching_up") this.#sent.add(task_id);
    this.#send({ type: "task_assigned", task, expires_at }, written);
  }

  #awaitExpiry(ms: number): void {
    this.#stopAwaiting();
    this.#stopAwaiting = this.#services.runtime.schedule(ms, () =>
      this.#apply({ type: "sign_in_ended" }),
    );
  }

  #awaitRemoval({ removed }: OperatorCaller): void {
    this.#stopAwaiting();
    const onRemoval = () => this.#apply({ type: "sign_in_ended" });
    removed.addEventListener("abort", onRemoval, { once: true });
    this.#stopAwaiting = () => removed.removeEventListener("abort", onRemoval);
  }

  async #signIn(header: string): Promise<void> {
    const checked = await this.#services.authenticate(header);
    if (!checked.ok) {
      return this.#apply({ type: "sign_in_refused", reason: formatRefusal(checked) });
    }
    const { caller } = checked;
    // An end that came before the socket joins is not announced to it again.
    if (hasCallerEnded(caller)) {
      return this.#apply({ type: "sign_in_refused", reason: "token removed" });
    }
    this.#apply({ type: "signed_in", caller });
  }

  #join(deviceId: string | null): void {
    const connection: Connection = {
      id: newId(this.#services.runtime),
      agentId: this.#agentId,
      openedAt: this.#services.runtime.now(),
      deviceId,
      capabilities: undefined,
      claimed: new Set(),
      sentTasks: new BoundedMap(MAX_SENT_TASKS),
      send: (message) => this.#send(message),
      sendTask: (task) => this.#sendTask(task),
      close: (code, reason) => this.#apply({ type: "close_requested", code, reason }),
    };
    this.#connection = connection;
    // Registered before any await, so that a key change from here on closes this socket too.
    this.#services.connections.add(connection);
    void this.#guard(this.#welcome(connection));
  }

  async #welcome(connection: Connection): Promise<void> {
    const { runtime, storage, connections, freezer, log } = this.#services;
    const agentId = this.#agentId;
    // A frozen relay writes nothing, and its devices wait until it is released.
    if (freezer.frozen() === undefined) {
      await storage.transaction((tx) => updateLastSeen(tx, agentId, runtime.now()));
    }
    const stored = await loadAnnouncement(storage.read, connection);
    connection.capabilities ??= stored.capabilities;
    if (stored.isAnnounced) connections.markAnnounced(agentId);
    const query = { executor: agentId, now: freezer.taskTime(), limit: MAX_COUNTED, after: "" };
    const pending = await listPendingTaskIds(storage.read, query);
    if (this.#state.name === "closed") return;
    log.info("ws.connected", { agent_id: agentId, device_id: connection.deviceId });
    this.#apply({ type: "welcomed", pending: pending.length });
  }

  #catchUpAll(): Promise<void> {
    const ability = this.#services.connections.abilityOf(this.#joined());
    return this.#catchUp((task) => meetsRequirements(ability, task.required_capabilities));
  }

  /** Sends the tasks that only the new capabilities allow: the others were sent before. */
  async #announce(capabilities: readonly string[]): Promise<void> {
    const { storage, connections, freezer } = this.#services;
    const connection = this.#joined();
    const before = connections.abilityOf(connection);
    connection.capabilities = capabilities;
    connections.markAnnounced(this.#agentId);
    const now = connections.abilityOf(connection);
    if (freezer.frozen() === undefined) await saveAnnouncement(storage, connection);
    await this.#catchUp(
      ({ required_capabilities: required }) =>
        meetsRequirements(now, required) && !meetsRequirements(before, required),
    );
  }

  #work(message: WorkMessage, caller: Caller): Promise<void> {
    return handleWorkMessage(this.#services, this.#joined(), { caller, message });
  }

  /** Catch-ups run one after another, because each records the tasks that it has sent. */
  #catchUp(isWanted: (task: Task) => boolean): Promise<void> {
    this.#catchingUp = this.#catchingUp.then(() => this.#sendOlder(isWanted));
    return this.#catchingUp;
  }

  /** Older and new tasks arrive at the same time, and each is sent once. */
  async #sendOlder(isWanted: (task: Task) => boolean): Promise<void> {
    this.#sent = new Set();
    this.#apply({ type: "catch_up_began" });
    await sendPendingTasks(this.#services, this.#agentId, {
      filter: isWanted,
      send: (task) =>
        new Promise((resolve) =>
          this.#sendTask(task, () => resolve(this.#state.name !== "closed")),
        ),
    });
    this.#sent = new Set();
    this.#apply({ type: "catch_up_ended" });
  }
}
