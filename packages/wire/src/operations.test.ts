import { describe, expect, test } from "vitest";
import { errors } from "./errors.ts";
import { limits } from "./engine/limits.ts";
import { getOperatorLevel } from "./engine/operator-level.ts";
import { scopes, type Operation } from "./engine/operation.ts";
import { FEDERATION_PREFIX } from "./engine/peer-requests.ts";
import { operations } from "./operations.ts";

const rows: readonly [string, Operation][] = Object.entries(operations);
const namesOf = (rule: (row: Operation) => boolean) =>
  rows.filter(([, row]) => rule(row)).map(([name]) => name);

describe("the operation table", () => {
  test("the operation table allows public access to exactly the operations of this list", () => {
    expect(namesOf((row) => row.auth === "public").toSorted()).toEqual([
      "agentCard",
      "bootstrap",
      "claimPairing",
      "closeConsoleSession",
      "credentialStatus",
      "docs",
      "getCheckpoint",
      "getLatestCheckpoint",
      "getListing",
      "getLogProof",
      "getLogTile",
      "getSuccession",
      "health",
      "live",
      "openApi",
      "openConsoleSession",
      "ready",
      "relayCard",
      "relayInfo",
      "renewConsoleSession",
      "stripeWebhook",
      "verifyCredential",
    ]);
  });

  test("the operation table reserves exactly these operations for the operator", () => {
    expect(namesOf((row) => row.auth === "master").toSorted()).toEqual([
      "acceptClock",
      "addPeer",
      "clearPeerDefaults",
      "completeWithdrawal",
      "createSessionCode",
      "deposit",
      "failWithdrawal",
      "freeze",
      "getFreeze",
      "getLogState",
      "getOnlineHistory",
      "getOverview",
      "getSeries",
      "getTaskReport",
      "getTaskTexts",
      "giveUpOutbox",
      "listAccounts",
      "listAllAgents",
      "listAllApprovals",
      "listAllInspections",
      "listAllTasks",
      "listAllWithdrawals",
      "listConsoleSessions",
      "listDisputes",
      "listFederationPeers",
      "listHolds",
      "listOperatorAudit",
      "listOutbox",
      "listPeerHistory",
      "listPeerPayments",
      "listProcesses",
      "listRelayEvents",
      "listTrustReceived",
      "metrics",
      "reconcile",
      "removePeer",
      "resolvePayment",
      "retryOutbox",
      "revokeConsoleSession",
      "setPeerCredit",
      "settlePeer",
      "unfreeze",
    ]);
  });

  test("no console session may rotate a key, vote, deliver a result or create a code", () => {
    const never = namesOf((row) => getOperatorLevel(row) === "never");
    expect(never).toEqual(
      expect.arrayContaining(["createSessionCode", "postResult", "rotateKey", "voteOnApproval"]),
    );
    const forAgents = namesOf(
      (row) => row.auth === "bearer" && getOperatorLevel(row) === "operate",
    );
    expect(forAgents.toSorted()).toEqual([
      "decideDispute",
      "revokeAgent",
      "revokeCredential",
      "revokeDevice",
      "revokeTokens",
    ]);
  });

  test("the operation table requires a single-use token for operations on money, keys and approvals", () => {
    expect(namesOf((row) => row.singleUse === true).toSorted()).toEqual([
      "approvePairing",
      "createCheckout",
      "requestWithdrawal",
      "revokeAgent",
      "revokeCredential",
      "revokeDevice",
      "revokeTokens",
      "rotateKey",
      "voteOnApproval",
    ]);
  });

  test("an Idempotency-Key is accepted where a caller other than a peer creates tasks or moves money", () => {
    expect(namesOf((row) => row.keyed === true).toSorted()).toEqual([
      "cancelTask",
      "completeWithdrawal",
      "createCheckout",
      "decideDispute",
      "deposit",
      "failWithdrawal",
      "giveUpOutbox",
      "giveVerdict",
      "postResult",
      "requestWithdrawal",
      "resolvePayment",
      "settlePeer",
      "submitTask",
    ]);
  });

  test("the operation table contains no operation between relays", () => {
    expect(namesOf((row) => row.auth === "peer")).toEqual([]);
    expect(namesOf(({ path }) => path.startsWith(FEDERATION_PREFIX))).toEqual([]);
  });

  test("the operation table restricts money, keys, records and tasks to their own agent", () => {
    expect(namesOf((row) => row.ownerOnly === true).toSorted()).toEqual([
      "addMessages",
      "appendEvents",
      "createCheckout",
      "createWebhook",
      "deleteWebhook",
      "deregisterAgent",
      "getBalance",
      "getConversation",
      "getEvent",
      "getPlan",
      "getReceipt",
      "getState",
      "getStatement",
      "getTrust",
      "getTrustClosure",
      "getVisibility",
      "listApprovals",
      "listAudit",
      "listConversations",
      "listDevices",
      "listEvents",
      "listGoals",
      "listInspections",
      "listMessages",
      "listPlans",
      "listReceipts",
      "listSettlements",
      "listTasks",
      "listTransactions",
      "listTrust",
      "listWebhooks",
      "listWithdrawals",
      "presentCredentials",
      "putConversation",
      "putListing",
      "putPlan",
      "requestApproval",
      "requestWithdrawal",
      "revokeAgent",
      "revokeCredential",
      "revokeDevice",
      "revokeTokens",
      "rotateKey",
      "setTrustLevel",
      "storeLedger",
      "testWebhook",
      "useApproval",
    ]);
  });

  test("the operation table limits the rate of all operations except the probes of an orchestrator", () => {
    expect(namesOf((row) => row.tier === null).toSorted()).toEqual(["live", "ready"]);
  });

  test.each([
    ["auth", 30],
    ["read", 60],
    ["write", 30],
    ["public", 20],
    ["expensive", 10],
  ] as const)("operations of the tier %s are allowed %i times a minute", (tier, perMinute) => {
    expect(limits.tiers[tier]).toBe(perMinute);
    expect(limits.rateWindowMs).toBe(60_000);
    expect(namesOf((row) => row.tier === tier)).not.toEqual([]);
  });

  test("ownerOnly is declared only with an agentId in the path, and a scope only with a token", () => {
    expect(namesOf((row) => row.ownerOnly === true && !row.path.includes("/:agentId"))).toEqual([]);
    expect(namesOf((row) => row.ownerOnly === true && row.auth !== "bearer")).toEqual([]);
    expect(namesOf((row) => row.scope !== undefined && row.auth !== "bearer")).toEqual([]);
    const named = new Set(rows.flatMap(([, { scope }]) => (scope === undefined ? [] : [scope])));
    expect(scopes).toEqual(expect.arrayContaining([...named]));
  });

  test("a body is declared only for POST and PUT, and rawBody only for signed documents", () => {
    const withBody = namesOf((row) => row.body !== undefined);
    expect(namesOf(({ method }) => method === "POST" || method === "PUT")).toEqual(
      expect.arrayContaining(withBody),
    );
    const unread = namesOf((row) => row.rawBody === true);
    expect(unread).toEqual([
      "postResult",
      "giveVerdict",
      "decideDispute",
      "stripeWebhook",
      "verifyCredential",
      "storeLedger",
    ]);
    expect(withBody).toEqual(expect.arrayContaining(unread));
  });

  test("the operation table contains each pair of method and path once", () => {
    const places = rows.map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });
});

describe.each(rows)("%s", (_, row) => {
  test("the operation declares a success and each of its refusals once", () => {
    const statuses = Object.keys(row.ok).map(Number);
    expect(statuses).not.toEqual([]);
    expect([200, 201, 202, 204, 304]).toEqual(expect.arrayContaining(statuses));
    expect(new Set(row.refusals).size).toBe(row.refusals.length);
    expect(Object.keys(errors)).toEqual(expect.arrayContaining([...row.refusals]));
  });
});
