import { bootstrapAgent, createRelayClient, signVote, type RelayClient } from "@agent/client";
import { bytesToHex, generateKeyPair, hexToDidKey, sha256Hex } from "@agent/crypto";
import type { Approval, ApprovalDecision, Quorum } from "@agent/wire";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { owner, type Caller } from "../../caller.ts";
import { silentLog } from "../../log.ts";
import { formatIdentityTag } from "../../identity/identity-tag.ts";
import { connectClient } from "../../testing/tools/connect-client.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { startJoinedAgent, startTestAgent } from "../../testing/agents/start-agent.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { MAX_QUORUM_PLACES_PER_CALLER, QUORUM_PLACES } from "./pending-calls.ts";
import { createQuorumApprover } from "./quorum-approver.ts";
import { getPlaceHolder } from "../../policy/place-holder.ts";
import { openApprovalsFile } from "../../policy/approvals-file.ts";
import { openQuorumRequests } from "./quorum-requests.ts";

interface Member {
  readonly agentId: string;
  readonly publicKey: string;
  readonly client: RelayClient;
  vote(of: string, approvalId: string, decision: ApprovalDecision): Promise<void>;
}

let relay: TestRelay;
let relayKey: string;
let did: string;
let voters: Member[];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-quorum-"));
  relay = await startTestRelay();
  const info = await relay.operator.relayInfo();
  if (!info.ok) throw new Error(info.message);
  relayKey = info.body.public_key;
  did = hexToDidKey(relayKey);
  voters = [await newMember(), await newMember(), await newMember()];
});
afterAll(async () => {
  await relay.stop();
  await rm(folder, { recursive: true });
});

const openAsked = async (name: string) => {
  const file = await openApprovalsFile(join(folder, name), { log: silentLog });
  return openQuorumRequests({ file, asker: "" });
};

async function newMember(fetchOf: typeof fetch = fetch): Promise<Member> {
  const { secretKey, publicKey } = generateKeyPair();
  const known = await bootstrapAgent({ baseUrl: relay.url, secretKey });
  if (!known.ok) throw new Error(known.message);
  const { identity } = known;
  const client = createRelayClient({ baseUrl: relay.url, identity, fetch: fetchOf });
  return {
    agentId: identity.agentId,
    publicKey: bytesToHex(publicKey),
    client,
    async vote(agentId, approvalId, decision) {
      const params = { agentId, approvalId };
      const asked = await client.getApproval({ params });
      if (!asked.ok) throw new Error(asked.message);
      const body = signVote(asked.body, {
        approverId: identity.agentId,
        secretKey,
        decision,
        relay: did,
      });
      const voted = await client.voteOnApproval({ params, body });
      if (!voted.ok) throw new Error(voted.message);
    },
  };
}

const secret = "secret";
const approverIds = () => voters.map(({ agentId }) => agentId);
const approvers = () =>
  voters.map(({ agentId: agent_id, publicKey: public_key }) => ({ agent_id, public_key }));

describe("an agent whose calls a quorum approves", () => {
  let running: RunningAgent;
  let deployed: string[];
  const deploy = createTextTool(
    "deploy",
    (text) => ({ ok: true, data: String(deployed.push(text)) }),
    3,
  );
  const given = () => ({
    relayUrl: relay.url,
    tools: [deploy],
    env: { AGENT_AUTH_TOKEN: secret },
    file: { policy: { quorum: { approvers: approvers(), required: 2 } } },
  });

  beforeEach(async () => {
    deployed = [];
    running = await startJoinedAgent(given());
  });
  afterEach(() => running.stop());

  async function call(text: string): Promise<readonly string[]> {
    const client = await connectClient(running.url, secret);
    const { content } = await client.callTool({ name: "deploy", arguments: { text } });
    await client.close();
    return content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  }

  const firstOf = async (text: string) => (await call(text))[0] ?? "";
  const idIn = (text: string) => /approval_id (\S+)$/.exec(text)?.[1] ?? "";

  async function asked() {
    const { agentId } = running.agent.identity;
    const answer = await relay.operator.listApprovals({ params: { agentId }, query: {} });
    return answer.ok ? answer.body.approvals : [];
  }

  async function vote(approvalId: string, ...decisions: ApprovalDecision[]): Promise<void> {
    const { agentId } = running.agent.identity;
    for (const [index, decision] of decisions.entries()) {
      await voters[index]?.vote(agentId, approvalId, decision);
    }
  }

  test("a call asks the quorum once with its tool and hash, and is answered with the approval's id", async () => {
    const [first = "", tag] = await call("site");
    expect(first).toMatch(
      /^Governance: tool "deploy" requires approval \(R3_EXECUTE\), approval_id/,
    );
    expect(tag).toBe(formatIdentityTag(running.agent.identity));
    expect(await Promise.all([firstOf("site"), firstOf("site")])).toEqual([first, first]);
    expect(await asked()).toMatchObject([
      {
        approval_id: idIn(first),
        tool_name: "deploy",
        args_hash: sha256Hex('{"text":"site"}'),
        quorum_required: 2,
        quorum_approvers: approverIds().toSorted(),
        status: "pending",
      },
    ]);
    expect(deployed).toEqual([]);
  });

  test("an approved call runs once, and no other call", async () => {
    const approvalId = idIn(await firstOf("site"));
    await vote(approvalId, "approve");
    expect(idIn(await firstOf("site"))).toBe(approvalId);
    await voters[1]?.vote(running.agent.identity.agentId, approvalId, "approve");
    expect(await firstOf("other")).toMatch(/^Governance: /);
    expect(deployed).toEqual([]);
    expect(await firstOf("site")).toBe("1");
    const again = await firstOf("site");
    expect(again).toMatch(/^Governance: /);
    expect(idIn(again)).not.toBe(approvalId);
    expect(deployed).toEqual(["site"]);
    expect(await asked()).toContainEqual(
      expect.objectContaining({ approval_id: approvalId, status: "used" }),
    );
  });

  test("an approved call runs once when it is repeated concurrently", async () => {
    await vote(idIn(await firstOf("site")), "approve", "approve");
    const answers = await Promise.all(Array.from({ length: 8 }, () => firstOf("site")));
    expect(deployed).toEqual(["site"]);
    const others = answers.filter((answer) => answer !== "1");
    expect(others).toHaveLength(7);
    for (const other of others) expect(other).toMatch(/^Governance: |\(approval\.used\)$/);
  });

  test("a call that an approver denied does not run", async () => {
    const approvalId = idIn(await firstOf("site"));
    await vote(approvalId, "approve", "deny");
    const refused = "Policy denied: an approver refused this call (approval.denied)";
    expect(await firstOf("site")).toBe(refused);
    expect(await firstOf("site")).toBe(refused);
    expect(deployed).toEqual([]);
  });

  test("the arguments of a call are shown to the quorum only if the owner says so", async () => {
    await firstOf("site");
    expect((await asked())[0]).not.toHaveProperty("arguments");
    await running.stop();
    const { file, ...rest } = given();
    const quorum = { ...file.policy.quorum, show_arguments: true };
    running = await startJoinedAgent({ ...rest, file: { policy: { quorum } } });
    await firstOf("site");
    expect((await asked())[0]).toMatchObject({ arguments: { text: "site" } });
    await firstOf("x".repeat(20_000));
    expect((await asked())[0]).not.toHaveProperty("arguments");
  });

  test("a call for a quorum does not appear in the owner's list", async () => {
    await firstOf("site");
    expect(running.agent.approvals.list()).toEqual([]);
  });
});

test("a call that needs a quorum does not run while the relay is unreachable", async () => {
  const lost = await startTestRelay();
  const ran: string[] = [];
  const running = await startTestAgent({
    relayUrl: lost.url,
    tools: [createTextTool("deploy", (text) => ({ ok: true, data: String(ran.push(text)) }), 3)],
    env: { AGENT_AUTH_TOKEN: secret },
    file: { policy: { quorum: { approvers: approvers() } } },
  });
  await running.joined;
  const client = await connectClient(running.url, secret);
  const deploy = () => client.callTool({ name: "deploy", arguments: { text: "" } });
  expect(JSON.stringify(await deploy())).toContain("Governance: ");
  await lost.stop();
  const answer = await deploy();
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer)).toContain(
    "Policy denied: the relay gave no approval (network.unreachable)",
  );
  expect(ran).toEqual([]);
  await client.close();
  await running.stop();
});

test("E9: a task whose approval cannot be asked for gets no receipt, and runs once it can", async () => {
  const ran: string[] = [];
  let asked = 0;
  let isLost = false;
  const running = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [createTextTool("deploy", (text) => ({ ok: true, data: String(ran.push(text)) }), 3)],
    file: { policy: { quorum: { approvers: approvers(), required: 1 } } },
    fetch: async (input, init) => {
      const isAsking = new Request(input, init).url.endsWith("/approvals");
      if (!isAsking || !isLost) return fetch(input, init);
      asked += 1;
      const refusal = { code: "rate.exceeded", message: "", status: 429 };
      return Response.json(refusal, { status: 429, headers: { "retry-after": "1" } });
    },
  });
  const { agentId } = running.agent.identity;
  const submit = async () => {
    const submitted = await relay.operator.submitTask({
      params: { agentId },
      body: { prompt: "site" },
    });
    const taskId = submitted.ok ? submitted.body.task_id : "";
    return async () => {
      const got = await relay.operator.getTask({ params: { agentId, taskId }, query: {} });
      return got.ok ? (got.body.receipt?.["status"] ?? null) : got.code;
    };
  };
  const unapproved = await submit();
  await expect.poll(unapproved, { timeout: 5_000 }).toBe("denied");
  const listed = await relay.operator.listApprovals({ params: { agentId }, query: {} });
  const [waiting] = listed.ok ? listed.body.approvals : [];
  await voters[0]?.vote(agentId, waiting?.approval_id ?? "", "approve");

  isLost = true;
  const approved = await submit();
  await expect.poll(() => asked, { timeout: 5_000 }).toBeGreaterThan(1);
  expect([await approved(), ran]).toEqual([null, []]);
  isLost = false;
  await expect.poll(approved, { timeout: 5_000 }).toBe("completed");
  expect(ran).toEqual(["site"]);
  await running.stop();
});

test("a call before the relay is joined is refused and not added to the waiting ones", async () => {
  const approver = createQuorumApprover({
    agentId: "a",
    quorum: { required: 1, approvers: approvers(), showsArguments: false },
    requests: await openAsked("none"),
    client: () => undefined,
    relayKey: () => undefined,
    runtime: { now: Date.now, randomBytes: (length) => new Uint8Array(length) },
  });
  const wanted = { tool: "deploy", risk: 3, holder: getPlaceHolder(owner), args: {} };
  for (let index = 0; index < 60; index += 1) {
    expect(await approver.requestApproval({ ...wanted, argsHash: String(index) })).toEqual({
      status: "unavailable",
      reason: "the relay gave no approval (network.unreachable)",
    });
  }
});

describe("an approval of a quorum", () => {
  const stranger = { kind: "agent", agentId: "a", trust: "unknown" } as const satisfies Caller;

  /** Requests approvals; `loses` selects the requests whose answers are lost. */
  async function newAsker(
    loses: (url: string) => boolean = () => false,
    rewrite: (text: string, url: string) => string | Response = (text) => text,
    named: (all: Quorum["approvers"]) => Quorum["approvers"] = (all) => all,
  ) {
    const member = await newMember(async (input, init) => {
      const response = await fetch(input, init);
      const { url } = new Request(input);
      if (loses(url)) throw new TypeError("the connection was lost");
      const rewritten = rewrite(await response.text(), url);
      return typeof rewritten === "string" ? new Response(rewritten, response) : rewritten;
    });
    const { agentId, client } = member;
    let shift = 0;
    const start = async () =>
      createQuorumApprover({
        agentId,
        quorum: { required: 1, approvers: named(approvers()), showsArguments: false },
        requests: await openAsked(agentId),
        client: () => client,
        relayKey: () => relayKey,
        runtime: {
          now: () => Date.now() + shift,
          randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
        },
      });
    let approver = await start();
    const take = (caller: Caller = owner, text = "site") => {
      const args = { text };
      const argsHash = sha256Hex(JSON.stringify(args));
      const holder = getPlaceHolder(caller);
      return Promise.resolve(
        approver.requestApproval({ tool: "deploy", risk: 3, holder, args, argsHash }),
      );
    };
    const takeId = async (caller?: Caller, text?: string) => {
      const taken = await take(caller, text);
      return taken.status === "pending" ? taken.approvalId : "";
    };
    return {
      agentId,
      take,
      takeId,
      approve: (id: string) => voters[0]?.vote(agentId, id, "approve"),
      wait: (ms: number) => void (shift += ms),
      restart: async () => void (approver = await start()),
    };
  }

  test("an approval is valid only for the caller of the call", async () => {
    const { take, takeId, approve } = await newAsker();
    const id = await takeId(owner);
    await approve(id);
    expect(await take(stranger)).toMatchObject({ status: "pending" });
    expect(await take(owner)).toEqual({ status: "approved", approvalId: id });
  });

  test("H17: an approval with an unknown status of a later version neither allows the call nor ends", async () => {
    let newer = true;
    const { take, takeId, approve } = await newAsker(undefined, (text) =>
      newer ? text.replace(`"status":"pending"`, `"status":"escalated"`) : text,
    );
    expect(await take()).toMatchObject({
      status: "unavailable",
      reason: "the relay gave no approval (approval.status_unknown)",
    });
    newer = false;
    const id = await takeId();
    await approve(id);
    expect(await take()).toEqual({ status: "approved", approvalId: id });
  });

  /** Changes the relay's answer about the approval. */
  const lying = (change: (approval: Approval) => Partial<Approval>) => (text: string) => {
    const approval = JSON.parse(text) as Approval;
    return "votes" in approval ? JSON.stringify({ ...approval, ...change(approval) }) : text;
  };
  const missing = {
    status: "refused",
    reason: "the votes for this call are invalid (approval.votes_missing)",
  };

  test("D3: an approval that only the relay claims does not allow the call and is not consumed", async () => {
    let isLying = true;
    const lie = lying(() => ({ status: "approved" }));
    const { take, takeId, approve } = await newAsker(undefined, (text) =>
      isLying ? lie(text) : text,
    );
    expect(await take()).toMatchObject(missing);
    isLying = false;
    const id = await takeId();
    await approve(id);
    expect(await take()).toEqual({ status: "approved", approvalId: id });
  });

  test("D3: one approval allows one call, although the relay counts every use of it as the first", async () => {
    let used: string | undefined;
    const { take, takeId, approve, restart } = await newAsker(undefined, (text, url) => {
      if (!url.endsWith("/use")) return text;
      used ??= text;
      return Response.json(JSON.parse(used));
    });
    const id = await takeId();
    await approve(id);
    const taken = await Promise.all(Array.from({ length: 20 }, () => take()));
    expect(taken.filter(({ status }) => status === "approved")).toEqual([
      { status: "approved", approvalId: id },
    ]);
    expect(taken.filter(({ status }) => status !== "approved")).toEqual(
      Array.from({ length: 19 }, () => expect.objectContaining({ status: "refused" }) as unknown),
    );
    await restart();
    expect(await takeId()).not.toBe(id);
  });

  test("D3: votes for another call do not allow this one", async () => {
    let shown: Approval["votes"] | undefined;
    const { agentId, take, takeId, approve } = await newAsker(undefined, (text) =>
      shown === undefined ? text : lying(() => ({ status: "approved", votes: shown! }))(text),
    );
    const approvalId = await takeId();
    await approve(approvalId);
    const given = await relay.operator.getApproval({ params: { agentId, approvalId } });
    if (!given.ok) throw new Error(given.message);
    shown = given.body.votes as Approval["votes"];
    expect(await take(owner, "another")).toMatchObject(missing);
    shown = undefined;
    expect(await take()).toEqual({ status: "approved", approvalId });
  });

  test("D3: a vote under another key than the one that the owner configured does not count", async () => {
    const { take, takeId, approve } = await newAsker(undefined, undefined, (all) =>
      all.map(({ agent_id }, index) => ({ agent_id, public_key: all.at(index - 1)!.public_key })),
    );
    await approve(await takeId());
    expect(await take()).toMatchObject(missing);
  });

  test("an approval is valid after a restart, once and for its caller", async () => {
    const { take, takeId, approve, restart } = await newAsker();
    const id = await takeId();
    await restart();
    expect(await takeId()).toBe(id);
    await approve(id);
    await restart();
    expect(await take(stranger)).toMatchObject({ status: "pending" });
    expect(await take()).toEqual({ status: "approved", approvalId: id });
    expect(await take()).toMatchObject({ status: "pending" });
  });

  test("an approval expires after an hour, and the next call requests a new one", async () => {
    const { take, takeId, approve, wait } = await newAsker();
    const id = await takeId();
    await approve(id);
    wait(3_600_000);
    expect(await take()).toEqual({
      status: "refused",
      reason: "the approval of this call has expired (approval.expired)",
      approvalId: id,
    });
    const next = await take();
    expect(next).toMatchObject({ status: "pending" });
    expect(next).not.toMatchObject({ approvalId: id });
  });

  test("A27: votes on a call requested by a clock that is a day ahead end once the clock is corrected", async () => {
    const { take, takeId, approve, wait } = await newAsker();
    const id = await takeId();
    await approve(id);
    wait(-86_400_000);
    expect(await take()).toMatchObject({ status: "refused", approvalId: id });
    expect(await take()).toMatchObject({ status: "pending" });
  });

  test("an approval is requested only once, even if the relay's answer was lost", async () => {
    let lost = true;
    const { take, takeId } = await newAsker((url) => url.endsWith("/approvals") && lost);
    const first = await take();
    expect(first).toMatchObject({
      status: "unavailable",
      reason: "the relay gave no approval (network.unreachable)",
    });
    lost = false;
    expect(first).toMatchObject({ approvalId: await takeId() });
  });

  test("a used approval is refused, even if the answer about its use was lost", async () => {
    const { take, takeId, approve } = await newAsker((url) => url.endsWith("/use"));
    const id = await takeId();
    await approve(id);
    expect(await take()).toMatchObject({
      reason: "the relay gave no approval (network.unreachable)",
    });
    expect(await take()).toMatchObject({
      reason: "the approval of this call is used up (approval.used)",
    });
    expect(await take()).toMatchObject({ status: "pending" });
  });

  test("calls that an approver denied stay denied until other calls take their places", async () => {
    const { agentId, take, takeId } = await newAsker();
    const most = MAX_QUORUM_PLACES_PER_CALLER;
    const texts = Array.from({ length: most }, (_, index) => String(index));
    const denied = { status: "refused", reason: expect.stringContaining("denied") as string };
    for (const text of texts) {
      await voters[0]?.vote(agentId, await takeId(stranger, text), "deny");
      expect(await take(stranger, text)).toMatchObject(denied);
    }
    for (const text of texts) expect(await take(stranger, text)).toMatchObject(denied);
    for (const text of texts)
      expect(await take(stranger, `new ${text}`)).toMatchObject({ status: "pending" });
    expect(await take(stranger, "more")).toEqual({ status: "full" });
  });

  test("other calls take the places of denied calls even if the callers do not repeat those", async () => {
    const { agentId, take, takeId } = await newAsker();
    const ids: string[] = [];
    for (let index = 0; index < MAX_QUORUM_PLACES_PER_CALLER; index += 1)
      ids.push(await takeId(stranger, String(index)));
    expect(await take(stranger, "more")).toEqual({ status: "full" });
    await voters[0]?.vote(agentId, ids[3]!, "deny");
    expect(await take(stranger, "more")).toMatchObject({ status: "pending" });
    expect(await take(stranger, "still more")).toEqual({ status: "full" });
    for (const index of [0, 1, 2, 4, 5, 6, 7])
      expect(await takeId(stranger, String(index))).toBe(ids[index]);
  });

  const refuseWith = (code: string, status: number) =>
    Response.json({ code, message: "", status }, { status });

  test.each([
    ["agent.not_found", 404],
    ["approval.too_many", 429],
  ])("a call that the relay refuses with %s keeps no place", async (code, status) => {
    let isRefusing = true;
    const { take } = await newAsker(undefined, (text) =>
      isRefusing ? refuseWith(code, status) : text,
    );
    for (let index = 0; index < MAX_QUORUM_PLACES_PER_CALLER; index += 1)
      expect(await take(stranger, String(index))).toMatchObject({
        reason: `the relay gave no approval (${code})`,
      });
    isRefusing = false;
    expect(await take(stranger, "more")).toMatchObject({ status: "pending" });
  });

  test("a call whose answer was lost keeps its place, because the relay may have it", async () => {
    let isLost = true;
    const { take, takeId, approve } = await newAsker(() => isLost);
    const most = MAX_QUORUM_PLACES_PER_CALLER;
    for (let index = 0; index < most; index += 1) await take(stranger, String(index));
    isLost = false;
    expect(await take(stranger, "more")).toEqual({ status: "full" });
    const id = await takeId(stranger, "0");
    await approve(id);
    expect(await take(stranger, "0")).toEqual({ status: "approved", approvalId: id });
    expect(await take(stranger, "more")).toMatchObject({ status: "pending" });
  });

  test("an approval of the owner is requested when strangers have used up their places, and expired ones make room", async () => {
    const { take, wait } = await newAsker();
    const perCaller = MAX_QUORUM_PLACES_PER_CALLER;
    const askOften = (caller: Caller, length: number) =>
      Promise.all(Array.from({ length }, (_, index) => take(caller, String(index))));
    await askOften(stranger, perCaller);
    expect(await take(stranger, "more")).toEqual({ status: "full" });
    const others = QUORUM_PLACES.unknown / perCaller - 1;
    for (let index = 0; index < others; index += 1)
      await askOften({ ...stranger, agentId: `b${index}` }, perCaller);
    expect(await take({ ...stranger, agentId: "c" })).toEqual({ status: "full" });
    expect(await take({ ...stranger, trust: "verified" })).toMatchObject({ status: "pending" });
    expect(await take(owner)).toMatchObject({ status: "pending" });
    wait(3_600_000);
    expect(await take(stranger, "more")).toMatchObject({ status: "pending" });
  });
});
