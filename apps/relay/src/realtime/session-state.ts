import {
  limits,
  formatRefusal,
  refuse,
  socketClose,
  type ClientMessage,
  type Refusal,
  type ServerMessage,
} from "@agent/wire";
import type { AgentCaller, Caller, OperatorCaller } from "../identity/caller.ts";
import type { WorkMessage } from "./work-messages.ts";

/** The device that signed in; a later token of the same device renews `caller`. */
interface SignedIn {
  readonly agentId: string;
  /** Null when the operator's token opened the socket. */
  readonly deviceId: string | null;
  readonly caller: AgentCaller | OperatorCaller;
}

/**
 * The state of one device's socket:
 * - `unauthenticated`: no valid token yet, for at most 5 s;
 * - `catching_up`: signed in; older tasks are being sent, at first before the greeting `ready`;
 * - `ready`: all older tasks were sent, so each new one is sent at once;
 * - `closed`: nothing is sent, and messages that still arrive are ignored.
 */
export type SessionState =
  | { readonly name: "unauthenticated"; readonly agentId: string }
  | ({ readonly name: "catching_up"; readonly isGreeted: boolean } & SignedIn)
  | ({ readonly name: "ready" } & SignedIn)
  | { readonly name: "closed" };

export type SessionEvent =
  | { readonly type: "signed_in"; readonly caller: Caller }
  | { readonly type: "sign_in_refused"; readonly reason: string }
  /** The sign-in deadline passed, or the token expired or was removed. */
  | { readonly type: "sign_in_ended" }
  | {
      readonly type: "received";
      readonly message: ClientMessage;
      /** Why the relay is frozen; undefined while it is not. */
      readonly freezeReason: string | undefined;
    }
  | { readonly type: "unreadable_received"; readonly refusal: Refusal }
  | { readonly type: "rate_exceeded"; readonly isPersistent: boolean }
  /** The relay was frozen while it handled the message. */
  | { readonly type: "postponed"; readonly message: ClientMessage; readonly freezeReason: string }
  /** The data of the device's greeting was loaded. */
  | { readonly type: "welcomed"; readonly pending: number }
  | { readonly type: "catch_up_began" }
  | { readonly type: "catch_up_ended" }
  | { readonly type: "backlog_exceeded" }
  | { readonly type: "close_requested"; readonly code: number; readonly reason: string }
  | { readonly type: "disconnected" };

export type SessionEffect =
  | { readonly type: "send"; readonly message: ServerMessage }
  | { readonly type: "close"; readonly code: number; readonly reason: string }
  | { readonly type: "terminate" }
  /** Replaces the sign-in deadline by an expiry after `ms`. */
  | { readonly type: "await_expiry"; readonly ms: number }
  /** Replaces the sign-in deadline by the removal of the operator's token. */
  | { readonly type: "await_removal"; readonly caller: OperatorCaller }
  | { readonly type: "stop_awaiting" }
  | { readonly type: "authenticate"; readonly message: Extract<ClientMessage, { type: "auth" }> }
  /** Registers the connection and loads the data of the device's greeting. */
  | { readonly type: "join"; readonly deviceId: string | null }
  | { readonly type: "leave" }
  /** Sends the older tasks that the device can do. */
  | { readonly type: "catch_up" }
  | {
      readonly type: "announce";
      readonly message: Extract<ClientMessage, { type: "capabilities" }>;
    }
  | {
      readonly type: "work";
      readonly message: WorkMessage;
      readonly caller: AgentCaller | OperatorCaller;
    };

export interface SessionStep {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

type Open = Exclude<SessionState, { name: "closed" }>;

/** Returns the first state of an agent's socket. */
export function createSession(agentId: string): SessionStep {
  return step({ name: "unauthenticated", agentId }, [
    { type: "await_expiry", ms: limits.socketAuthMs },
  ]);
}

/** Applies an event at `now` in ms; the effects must be run in their order. */
export function applySessionEvent(
  state: SessionState,
  event: SessionEvent,
  now: number,
): SessionStep {
  if (state.name === "closed") return step(state);
  switch (event.type) {
    case "signed_in":
      return signIn(state, event.caller, now);
    case "sign_in_refused":
      return close(state, socketClose.unauthorized, event.reason);
    case "sign_in_ended":
      return close(state, socketClose.unauthorized, endOfSignIn(state));
    case "received":
      return receive(state, event);
    case "unreadable_received":
      return state.name === "unauthenticated"
        ? close(state, socketClose.unauthorized, "sign in first")
        : step(state, [sendRefusal(event.refusal)]);
    case "rate_exceeded":
      return event.isPersistent
        ? close(state, socketClose.tooManyMessages, "too many messages")
        : step(state, [sendRefusal(refuse("rate.exceeded"))]);
    case "postponed":
      return step(state, [postpone(event.message, event.freezeReason)]);
    case "welcomed":
      return welcome(state, event.pending);
    case "catch_up_began":
      return state.name === "ready"
        ? step({ ...state, name: "catching_up", isGreeted: true })
        : step(state);
    case "catch_up_ended":
      return endCatchUp(state);
    case "backlog_exceeded":
      return leave(state, { type: "terminate" });
    case "close_requested":
      return close(state, event.code, event.reason);
    case "disconnected":
      return leave(state);
  }
}

/**
 * Returns whether a task may be sent now. One that arrives before the greeting is stored already
 * and is sent with the older ones; `isSent` means that this catch-up has sent it.
 */
export function canSendTask(state: SessionState, isSent: boolean): boolean {
  if (state.name === "catching_up") return state.isGreeted && !isSent;
  return state.name === "ready";
}

function signIn(state: Open, caller: Caller, now: number): SessionStep {
  if (!isAdmitted(state, caller)) {
    return close(state, socketClose.unauthorized, "not this agent's socket");
  }
  const awaitEnd: SessionEffect =
    caller.kind === "agent"
      ? { type: "await_expiry", ms: caller.expiresAt - now }
      : { type: "await_removal", caller };
  if (state.name !== "unauthenticated") return step({ ...state, caller }, [awaitEnd]);
  const deviceId = caller.kind === "agent" ? caller.deviceId : null;
  const { agentId } = state;
  return step({ name: "catching_up", isGreeted: false, agentId, deviceId, caller }, [
    awaitEnd,
    { type: "join", deviceId },
  ]);
}

/** A socket stays with the device that signed in; only the operator may take it over. */
function isAdmitted(state: Open, caller: Caller): caller is AgentCaller | OperatorCaller {
  // A console session's page has no work to do on a socket.
  if (caller.kind === "master") return caller.session === undefined;
  if (caller.kind !== "agent" || caller.agentId !== state.agentId) return false;
  if (!caller.scopes.has("socket")) return false;
  return state.name === "unauthenticated" || state.deviceId === caller.deviceId;
}

function endOfSignIn(state: Open): string {
  if (state.name === "unauthenticated") return "not signed in within 5 s";
  return state.caller.kind === "agent" ? "token expired" : "token removed";
}

function receive(
  state: Open,
  { message, freezeReason }: Extract<SessionEvent, { type: "received" }>,
): SessionStep {
  if (message.type === "auth") return step(state, [{ type: "authenticate", message }]);
  if (state.name === "unauthenticated") {
    return close(state, socketClose.unauthorized, "sign in first");
  }
  switch (message.type) {
    case "capabilities":
      return step(state, [{ type: "announce", message }]);
    case "ping":
      return step(state, [{ type: "send", message: { type: "pong" } }]);
    case "claim":
    case "refuse":
    case "release":
    case "progress":
    case "result":
      // This check precedes any read: while the relay's clock is frozen, a task would look expired.
      if (freezeReason !== undefined) return step(state, [postpone(message, freezeReason)]);
      return step(state, [{ type: "work", message, caller: state.caller }]);
  }
}

function welcome(state: Open, pending: number): SessionStep {
  if (state.name === "unauthenticated") return step(state);
  const { agentId: agent_id, deviceId: device_id } = state;
  return step({ ...state, name: "catching_up", isGreeted: true }, [
    { type: "send", message: { type: "ready", agent_id, device_id, pending } },
    { type: "catch_up" },
  ]);
}

/** A catch-up before the greeting sent nothing, so another one follows it. */
function endCatchUp(state: Open): SessionStep {
  if (state.name !== "catching_up" || !state.isGreeted) return step(state);
  const { isGreeted: _, ...signedIn } = state;
  return step({ ...signedIn, name: "ready" });
}

/** The relay cannot write now, so the device must send the message again later. */
function postpone(message: ClientMessage, freezeReason: string): SessionEffect {
  const refusal = refuse("server.frozen", freezeReason);
  if (!("task_id" in message)) return sendRefusal(refusal);
  const { task_id } = message;
  const type = message.type === "result" ? "result_refused" : "error";
  return {
    type: "send",
    message: { type, task_id, code: refusal.code, message: formatRefusal(refusal) },
  };
}

function sendRefusal(refusal: Refusal): SessionEffect {
  const { code } = refusal;
  return { type: "send", message: { type: "error", code, message: formatRefusal(refusal) } };
}

function close(state: Open, code: number, reason: string): SessionStep {
  return leave(state, { type: "close", code, reason });
}

function leave(state: Open, ...last: readonly SessionEffect[]): SessionStep {
  const joined: readonly SessionEffect[] =
    state.name === "unauthenticated" ? [] : [{ type: "leave" }];
  return step({ name: "closed" }, [{ type: "stop_awaiting" }, ...joined, ...last]);
}

function step(state: SessionState, effects: readonly SessionEffect[] = []): SessionStep {
  return { state, effects };
}
