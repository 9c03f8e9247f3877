import { refuse, type ClientMessage } from "@agent/wire";
import { describe, expect, test } from "vitest";
import type { AgentCaller, Caller, OperatorCaller } from "../identity/caller.ts";
import {
  applySessionEvent,
  canSendTask,
  createSession,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
} from "./session-state.ts";

const NOW = 1_800_000_000_000;
const AGENT_ID = "seller";
const TASK_ID = "0199c800-0000-7000-8000-000000000001";

const device: AgentCaller = {
  kind: "agent",
  agentId: AGENT_ID,
  deviceId: "device-1",
  tokenId: "token-1",
  scopes: new Set(["socket"]),
  expiresAt: NOW + 300_000,
  hasEnded: () => false,
};
const renewed: AgentCaller = { ...device, tokenId: "token-2", expiresAt: NOW + 500_000 };
const operator: OperatorCaller = {
  kind: "master",
  name: "operator",
  tokenTag: "",
  removed: new AbortController().signal,
};
const signedIn = { agentId: AGENT_ID, deviceId: "device-1", caller: device };

const states = {
  unauthenticated: { name: "unauthenticated", agentId: AGENT_ID },
  greeting: { name: "catching_up", isGreeted: false, ...signedIn },
  catching_up: { name: "catching_up", isGreeted: true, ...signedIn },
  ready: { name: "ready", ...signedIn },
  operated: { name: "ready", agentId: AGENT_ID, deviceId: null, caller: operator },
  closed: { name: "closed" },
} as const satisfies Record<string, SessionState>;
type StateName = keyof typeof states;
const open = ["unauthenticated", "greeting", "catching_up", "ready", "operated"] as const;
const joined = ["greeting", "catching_up", "ready", "operated"] as const;

const FREEZE_REASON = "an audit";
const received = (message: ClientMessage, isFrozen = false): SessionEvent => ({
  type: "received",
  message,
  freezeReason: isFrozen ? FREEZE_REASON : undefined,
});
const signIn = (caller: Caller): SessionEvent => ({ type: "signed_in", caller });
const auth = { type: "auth", token: "t" } as const;
const ping = { type: "ping" } as const;
const capabilities: ClientMessage = { type: "capabilities", capabilities: ["write"] };
const work = [
  { type: "claim", task_id: TASK_ID },
  { type: "refuse", task_id: TASK_ID },
  { type: "release", task_id: TASK_ID },
  { type: "progress", task_id: TASK_ID },
  { type: "result", task_id: TASK_ID, receipt: {} },
] as ClientMessage[];

const send = (message: Record<string, unknown>) => ({ type: "send", message });
const sendRefused = (code: string) =>
  send({ type: "error", code, message: expect.any(String) as string });
const closed = (code: number, reason: string) => ({ type: "close", code, reason });
const stop = { type: "stop_awaiting" };
const leave = { type: "leave" };

/**
 * A row has the states before, the event, the state after (`same`: unchanged) and the effects in order.
 */
type Row = [
  title: string,
  before: readonly StateName[],
  event: SessionEvent,
  after: StateName | "same" | SessionState,
  effects: readonly object[],
];

const rows: Row[] = [
  [
    "a device's first token starts the catch-up",
    ["unauthenticated"],
    signIn(device),
    "greeting",
    [
      { type: "await_expiry", ms: 300_000 },
      { type: "join", deviceId: "device-1" },
    ],
  ],
  [
    "the operator's token starts the catch-up without a device",
    ["unauthenticated"],
    signIn(operator),
    { name: "catching_up", isGreeted: false, agentId: AGENT_ID, deviceId: null, caller: operator },
    [
      { type: "await_removal", caller: operator },
      { type: "join", deviceId: null },
    ],
  ],
  [
    "a fresh token renews only the wait",
    ["ready"],
    signIn(renewed),
    { ...states.ready, caller: renewed },
    [{ type: "await_expiry", ms: 500_000 }],
  ],
  [
    "a fresh token does not end the greeting",
    ["greeting"],
    signIn(renewed),
    { ...states.greeting, caller: renewed },
    [{ type: "await_expiry", ms: 500_000 }],
  ],
  [
    "the operator's token takes a device's socket over",
    ["ready"],
    signIn(operator),
    { ...states.ready, caller: operator },
    [{ type: "await_removal", caller: operator }],
  ],
  ...(
    [
      ["another agent's token", { ...device, agentId: "other" }],
      ["a token without the scope of sockets", { ...device, scopes: new Set(["task:read"]) }],
      ["no token", { kind: "anonymous" }],
      ["a console session", { ...operator, session: {} as never }],
    ] as [string, Caller][]
  ).flatMap(([title, caller]): Row[] => [
    [
      `${title} closes`,
      ["unauthenticated"],
      signIn(caller),
      "closed",
      [stop, closed(4401, "not this agent's socket")],
    ],
    [
      `${title} closes and leaves`,
      joined,
      signIn(caller),
      "closed",
      [stop, leave, closed(4401, "not this agent's socket")],
    ],
  ]),
  [
    "another device's token closes the socket",
    ["greeting", "catching_up", "ready", "operated"],
    signIn({ ...device, deviceId: "device-2" }),
    "closed",
    [stop, leave, closed(4401, "not this agent's socket")],
  ],
  [
    "a refused token closes the socket",
    ["unauthenticated"],
    { type: "sign_in_refused", reason: "Invalid token" },
    "closed",
    [stop, closed(4401, "Invalid token")],
  ],
  [
    "a refused token closes the socket and leaves",
    joined,
    { type: "sign_in_refused", reason: "Invalid token" },
    "closed",
    [stop, leave, closed(4401, "Invalid token")],
  ],

  [
    "the sign-in deadline passes",
    ["unauthenticated"],
    { type: "sign_in_ended" },
    "closed",
    [stop, closed(4401, "not signed in within 5 s")],
  ],
  [
    "a token expires",
    ["greeting", "catching_up", "ready"],
    { type: "sign_in_ended" },
    "closed",
    [stop, leave, closed(4401, "token expired")],
  ],
  [
    "the operator's token is removed",
    ["operated"],
    { type: "sign_in_ended" },
    "closed",
    [stop, leave, closed(4401, "token removed")],
  ],

  ["a token is checked", open, received(auth), "same", [{ type: "authenticate", message: auth }]],
  ...[ping, capabilities, ...work].map((message): Row => [
    `${message.type} before a token closes`,
    ["unauthenticated"],
    received(message),
    "closed",
    [stop, closed(4401, "sign in first")],
  ]),
  ["a ping is answered", joined, received(ping), "same", [send({ type: "pong" })]],
  [
    "a ping is answered by a frozen relay",
    joined,
    received(ping, true),
    "same",
    [send({ type: "pong" })],
  ],
  [
    "capabilities are announced",
    joined,
    received(capabilities),
    "same",
    [{ type: "announce", message: capabilities }],
  ],
  [
    "capabilities are announced to a frozen relay",
    joined,
    received(capabilities, true),
    "same",
    [{ type: "announce", message: capabilities }],
  ],
  ...work.flatMap((message): Row[] => {
    const type = message.type === "result" ? "result_refused" : "error";
    const refused = {
      type,
      task_id: TASK_ID,
      code: "server.frozen",
      message: expect.stringContaining(FREEZE_REASON) as string,
    };
    return [
      [
        `${message.type} is carried out`,
        ["greeting", "catching_up", "ready"],
        received(message),
        "same",
        [{ type: "work", message, caller: device }],
      ],
      [
        `${message.type} is carried out for the operator`,
        ["operated"],
        received(message),
        "same",
        [{ type: "work", message, caller: operator }],
      ],
      [
        `${message.type} is postponed by a frozen relay`,
        joined,
        received(message, true),
        "same",
        [send(refused)],
      ],
      [
        `${message.type} is postponed when the relay freezes meanwhile`,
        joined,
        { type: "postponed", message, freezeReason: FREEZE_REASON },
        "same",
        [send(refused)],
      ],
    ];
  }),
  [
    "capabilities are postponed when the relay freezes meanwhile",
    joined,
    { type: "postponed", message: capabilities, freezeReason: FREEZE_REASON },
    "same",
    [sendRefused("server.frozen")],
  ],

  [
    "junk before a token closes the socket",
    ["unauthenticated"],
    { type: "unreadable_received", refusal: refuse("request.malformed_json") },
    "closed",
    [stop, closed(4401, "sign in first")],
  ],
  [
    "junk is refused",
    joined,
    { type: "unreadable_received", refusal: refuse("request.malformed_json") },
    "same",
    [sendRefused("request.malformed_json")],
  ],
  [
    "a message above the limit is refused",
    open,
    { type: "rate_exceeded", isPersistent: false },
    "same",
    [sendRefused("rate.exceeded")],
  ],
  [
    "too many messages before a token close the socket",
    ["unauthenticated"],
    { type: "rate_exceeded", isPersistent: true },
    "closed",
    [stop, closed(4429, "too many messages")],
  ],
  [
    "too many refused messages close the socket and leave",
    joined,
    { type: "rate_exceeded", isPersistent: true },
    "closed",
    [stop, leave, closed(4429, "too many messages")],
  ],

  [
    "a greeted device catches up",
    ["greeting"],
    { type: "welcomed", pending: 3 },
    "catching_up",
    [
      send({ type: "ready", agent_id: AGENT_ID, device_id: "device-1", pending: 3 }),
      { type: "catch_up" },
    ],
  ],
  [
    "a catch-up before the greeting begins nothing",
    ["greeting"],
    { type: "catch_up_began" },
    "same",
    [],
  ],
  [
    "a catch-up before the greeting ends nothing",
    ["greeting"],
    { type: "catch_up_ended" },
    "same",
    [],
  ],
  ["a catch-up ends", ["catching_up"], { type: "catch_up_ended" }, "ready", []],
  ["another catch-up begins", ["ready"], { type: "catch_up_began" }, "catching_up", []],

  [
    "a device that reads too slowly is cut off",
    joined,
    { type: "backlog_exceeded" },
    "closed",
    [stop, leave, { type: "terminate" }],
  ],
  [
    "the relay closes a socket before its token",
    ["unauthenticated"],
    { type: "close_requested", code: 1001, reason: "draining" },
    "closed",
    [stop, closed(1001, "draining")],
  ],
  [
    "the relay closes a socket",
    joined,
    { type: "close_requested", code: 1001, reason: "draining" },
    "closed",
    [stop, leave, closed(1001, "draining")],
  ],
  [
    "a device disconnects before its token",
    ["unauthenticated"],
    { type: "disconnected" },
    "closed",
    [stop],
  ],
  ["a device disconnects", joined, { type: "disconnected" }, "closed", [stop, leave]],
];

describe("sessions", () => {
  test("a new session waits 5 s for a token", () => {
    expect(createSession(AGENT_ID)).toEqual({
      state: states.unauthenticated,
      effects: [{ type: "await_expiry", ms: 5_000 }],
    });
  });

  const cases = rows.flatMap(([title, before, event, after, effects]) =>
    before.map((name) => [title, name, event, after, effects] as const),
  );
  test.each(cases)("%s (%s)", (_, before, event, after, effects) => {
    const state: SessionState = states[before];
    const expected = typeof after === "string" ? (after === "same" ? state : states[after]) : after;
    expect(applySessionEvent(state, event, NOW)).toEqual({ state: expected, effects });
  });

  const events = new Map(rows.map(([, , event]) => [JSON.stringify(event), event]));
  test.each([...events])("a session ignores %s once it is closed", (_, event) => {
    expect(applySessionEvent(states.closed, event, NOW)).toEqual({
      state: states.closed,
      effects: [] as SessionEffect[],
    });
  });

  test("a session leaves as often as it joined, and closes once, whatever the order of events", () => {
    const all = [...events.values()];
    for (let seed = 1; seed <= 500; seed++) {
      let { state } = createSession(AGENT_ID);
      const seen: SessionEffect[] = [];
      for (let i = 0; i < 30; i++) {
        const event = all[(seed * 31 + i * i * 17 + i * seed) % all.length];
        if (event === undefined) throw new Error("there is no event");
        const next = applySessionEvent(state, event, NOW);
        state = next.state;
        seen.push(...next.effects);
      }
      const last = applySessionEvent(state, { type: "disconnected" }, NOW);
      seen.push(...last.effects);
      const count = (...types: string[]) => seen.filter(({ type }) => types.includes(type)).length;
      expect(count("leave")).toBe(count("join"));
      expect(count("join")).toBeLessThanOrEqual(1);
      expect(count("close", "terminate")).toBeLessThanOrEqual(1);
      expect(count("stop_awaiting")).toBe(1);
    }
  });
});

test.each<[StateName, isSent: boolean, expected: boolean]>([
  ["unauthenticated", false, false],
  ["greeting", false, false],
  ["catching_up", false, true],
  ["catching_up", true, false],
  ["ready", false, true],
  ["ready", true, true],
  ["closed", false, false],
])(
  "a session in the state %s, to which the task was sent before: %s, may be sent the task: %s",
  (name, isSent, expected) => {
    expect(canSendTask(states[name], isSent)).toBe(expected);
  },
);
