import { bytesToHex, generateKeyPair, publicKeyToDidKey } from "@agent/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAttemptCounter } from "../../gradient/counts.ts";
import type { Log } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { maintainMembership } from "./maintain-membership.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

/** A member of the relay whose requests to a path can be made to fail. */
function newMember(syncIntervalMs: number) {
  const failing: { path: string; status: number; code?: string } = { path: "", status: 503 };
  /** Replaces the identity that the relay states. */
  const stating: { relay?: object } = {};
  const asked: string[] = [];
  const events: string[] = [];
  const lines: string[] = [];
  const log: Log = (level, event) => {
    events.push(event);
    if (level !== "debug") lines.push(`${level} ${event}`);
  };
  const runtime = {
    ...createSystemRuntime(log),
    fetch: (async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      asked.push(pathname);
      if (pathname === relayPath && stating.relay) {
        const info: unknown = await (await fetch(input, init)).json();
        return Response.json({ ...(info as object), ...stating.relay });
      }
      return pathname === failing.path
        ? Response.json({ code: failing.code, message: "" }, { status: failing.status })
        : fetch(input, init);
    }) satisfies typeof fetch,
  };
  const heartbeats = createAttemptCounter();
  const identity = createTestIdentity();
  const member = maintainMembership(
    {
      url: relay.url,
      registrationToken: undefined,
      identity,
      profile: {
        name: "member",
        description: "",
        agentType: "service",
        capabilities: ["x"],
        listing: { capabilities: ["x"], pricing: [], description: "" },
      },
      runtime,
      syncIntervalMs,
    },
    {
      heartbeats,
      joined: () => events.push("joined"),
      retrySocket: () => events.push("retrySocket"),
      synced: async () => {},
    },
  );
  /** Refuses the socket of the member, and its heartbeats as well. */
  function refuse(): void {
    Object.assign(failing, { path: heartbeatPath, status: 401, code: "auth.expired_token" });
    member.handleSocketRefused();
  }
  return { asked, events, failing, heartbeats, identity, lines, member, refuse, stating };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const relayPath = "/.well-known/agent-relay.json";
const heartbeatPath = "/api/v1/agents/heartbeat";
const registerPath = "/api/v1/agents/register";

describe("a member", () => {
  test("a member sends heartbeats and counts the answered ones", async () => {
    const { failing, heartbeats, member } = newMember(20);
    expect(await member.start("http://127.0.0.1:1/mcp")).toMatchObject({ ok: true });
    await until(() => heartbeats.attempts().succeeded >= 2);
    failing.path = heartbeatPath;
    await until(() => heartbeats.attempts().total > heartbeats.attempts().succeeded);
    expect(member.membership()).toBeDefined();
    member.stop();
  });

  test("a member publishes its price before its endpoint", async () => {
    const { asked, identity, member } = newMember(60_000);
    await member.start("http://127.0.0.1:1/mcp");
    const listingPath = `/api/v1/agents/${identity.agentId}/listing`;
    const published = asked.filter((path) => path === listingPath || path === registerPath);
    expect(published).toEqual([listingPath, registerPath]);
    member.stop();
  });

  test("a member publishes its offer after each lost connection until it succeeds", async () => {
    const { asked, events, failing, identity, member } = newMember(20);
    await member.start("http://127.0.0.1:1/mcp");
    const params = { agentId: identity.agentId };
    await relay.operator.deregisterAgent({ params });
    failing.path = registerPath;
    member.handleAccepted(true);
    await until(() => events.filter((event) => event === "relay.announce_failed").length >= 2);
    failing.path = "";
    await until(() => asked.filter((path) => path === registerPath).length >= 4);
    member.stop();
    expect(await relay.operator.getListing({ params })).toMatchObject({ ok: true });
    expect(events.filter((event) => event === "joined")).toHaveLength(1);
  });

  test("a member does not publish its offer again at its first connection", async () => {
    const { asked, member } = newMember(60_000);
    await member.start("http://127.0.0.1:1/mcp");
    const before = asked.length;
    member.handleAccepted(false);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(asked).toHaveLength(before);
    member.stop();
  });
});

test("D8: a member does not rejoin a relay with another key that no chain proves", async () => {
  const { asked, events, member, refuse, stating } = newMember(20);
  await member.start("http://127.0.0.1:1/mcp");
  const { publicKey } = generateKeyPair();
  stating.relay = { public_key: bytesToHex(publicKey), did: publicKeyToDidKey(publicKey) };
  refuse();
  await until(() => events.includes("relay.join_failed"));
  expect(member.membership()).toBeUndefined();
  const published = asked.slice(asked.lastIndexOf(relayPath) + 1);
  expect(published).toEqual([]);
  delete stating.relay;
  await until(() => member.membership() !== undefined);
  member.stop();
});

describe("a refused member", () => {
  test("a refused member joins again at once, but not repeatedly", async () => {
    const { events, member, refuse } = newMember(60_000);
    const joins = () => events.filter((event) => event === "joined").length;
    await member.start("http://127.0.0.1:1/mcp");
    refuse();
    await until(() => joins() === 2);
    refuse();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(joins()).toBe(2);
    member.stop();
  });

  test("a refused member joins again at once after it was accepted in between", async () => {
    const { events, member, refuse } = newMember(60_000);
    const joins = () => events.filter((event) => event === "joined").length;
    await member.start("http://127.0.0.1:1/mcp");
    for (let round = 2; round <= 4; round += 1) {
      refuse();
      await until(() => joins() === round);
      member.handleAccepted(false);
    }
    expect(member.membership()).toBeDefined();
    member.stop();
  });

  test("a member of which only the socket is refused, as by a proxy, keeps its membership", async () => {
    const { events, member } = newMember(60_000);
    const list = (event: string) => events.filter((one) => one === event).length;
    await member.start("http://127.0.0.1:1/mcp");
    const before = member.membership();
    member.handleSocketRefused();
    await until(() => list("retrySocket") === 1);
    // Only the first refusal in a row is asked about at once.
    member.handleSocketRefused();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(list("retrySocket")).toBe(1);
    expect(member.membership()).toBe(before);
    expect(list("joined")).toBe(1);
    member.stop();
  });

  test("E23: a member whose socket and heartbeat get the page of a proxy keeps its membership", async () => {
    const { events, failing, member } = newMember(20);
    await member.start("http://127.0.0.1:1/mcp");
    Object.assign(failing, { path: heartbeatPath, status: 404 });
    member.handleSocketRefused();
    await until(() => events.filter((event) => event === "relay.heartbeat_failed").length >= 3);
    expect(events).not.toContain("relay.forgot_agent");
    expect(member.membership()).toBeDefined();
    member.stop();
  });

  test("a member behind a proxy that refuses its socket tries it again after each interval", async () => {
    const { events, member } = newMember(20);
    await member.start("http://127.0.0.1:1/mcp");
    for (let round = 1; round <= 3; round += 1) {
      member.handleSocketRefused();
      await until(() => events.filter((event) => event === "retrySocket").length === round);
    }
    expect(member.membership()).toBeDefined();
    member.stop();
  });
});

describe("H26: the log of a member whose relay is away for long", () => {
  const repeated = async (events: readonly string[], event: string) =>
    until(() => events.filter((one) => one === event).length >= 5);

  test("H26: heartbeats that fail in the same way are one line of the log, and so is their end", async () => {
    const { events, failing, lines, member } = newMember(20);
    await member.start("http://127.0.0.1:1/mcp");
    lines.length = 0;
    Object.assign(failing, { path: heartbeatPath, status: 502 });
    await repeated(events, "relay.heartbeat_failed");
    failing.path = "";
    await until(() => events.includes("relay.reached_again"));
    member.stop();
    expect(lines).toEqual(["warn relay.heartbeat_failed", "info relay.reached_again"]);
  });

  test("H26: attempts to join that fail in the same way are one line of the log", async () => {
    const { events, failing, lines, member } = newMember(20);
    Object.assign(failing, { path: relayPath, status: 502 });
    await member.start("http://127.0.0.1:1/mcp");
    await until(() => events.length >= 3);
    failing.path = "";
    await until(() => member.membership() !== undefined);
    member.stop();
    expect(lines).toEqual(["warn relay.join_failed", "info relay.joined"]);
  });

  test("H26: announcements that fail in the same way are one line of the log", async () => {
    const { events, failing, lines, member } = newMember(20);
    await member.start("http://127.0.0.1:1/mcp");
    lines.length = 0;
    failing.path = registerPath;
    member.handleAccepted(true);
    await repeated(events, "relay.announce_failed");
    member.stop();
    expect(lines).toEqual(["warn relay.announce_failed"]);
  });
});
