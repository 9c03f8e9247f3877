import { createManualClock } from "@agent/testkit";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { owner } from "../caller.ts";
import { openQuorumRequests } from "../relay/quorum/quorum-requests.ts";
import { openApprovalsFile } from "./approvals-file.ts";
import type { Approvals, ApprovalAnswer } from "./approvals.ts";
import { APPROVAL_LIFETIME_MS } from "./is-in-force.ts";
import { getPlaceHolder } from "./place-holder.ts";
import { createPersistentApprovals } from "./persistent-approvals.ts";

let folder: string;
let path: string;
let logged: string[];
const clock = createManualClock();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-approvals-"));
  path = join(folder, "data", "approvals.json");
  logged = [];
});
afterEach(() => rm(folder, { recursive: true }));

const openFile = () => openApprovalsFile(path, { log: (_, event) => void logged.push(event) });

/** Opens the approvals from disk, as after a restart. */
async function open(): Promise<Approvals> {
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  return createPersistentApprovals(await openFile(), { now: clock.now, randomBytes });
}

const call = {
  tool: "t",
  risk: 3,
  holder: getPlaceHolder(owner),
  args: { text: "x" },
  argsHash: "h",
};

const idOf = (taken: ApprovalAnswer) => ("approvalId" in taken ? (taken.approvalId ?? "") : "");

describe("D6: the owner's approvals", () => {
  test("D6: pending, granted and denied approvals survive a restart", async () => {
    const approvals = await open();
    const given = idOf(await approvals.requestApproval(call));
    const refused = idOf(await approvals.requestApproval({ ...call, argsHash: "other" }));
    const waiting = idOf(await approvals.requestApproval({ ...call, argsHash: "third" }));
    await approvals.decide(given, "approved");
    await approvals.decide(refused, "denied");
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const again = await open();
    expect(again.list()).toEqual(approvals.list());
    expect(await again.requestApproval(call)).toEqual({ status: "approved", approvalId: given });
    expect(await again.requestApproval({ ...call, argsHash: "other" })).toMatchObject({
      status: "denied",
    });
    expect(await again.requestApproval({ ...call, argsHash: "third" })).toMatchObject({
      approvalId: waiting,
    });
    expect(logged).toEqual([]);
  });

  test("D6: an approval is consumed on disk before its call runs, so that a crash cannot restore it", async () => {
    const approvals = await open();
    await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
    expect(await approvals.requestApproval(call)).toMatchObject({ status: "approved" });
    expect(await (await open()).requestApproval(call)).toMatchObject({ status: "pending" });
  });

  test("D6: two concurrent calls consume an approval once", async () => {
    const approvals = await open();
    await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
    const taken = await Promise.all([
      approvals.requestApproval(call),
      approvals.requestApproval(call),
    ]);
    expect(taken.map(({ status }) => status).toSorted()).toEqual(["approved", "pending"]);
  });

  test("D6: an approval expires after an hour, with or without a restart", async () => {
    const approvals = await open();
    await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
    await clock.advance(APPROVAL_LIFETIME_MS);
    expect((await open()).list()).toEqual([]);
  });

  test("D6: the owner's and a quorum's approvals share a file without overwriting each other", async () => {
    const file = await openFile();
    const quorum = openQuorumRequests({ file, asker: "me" });
    const asked = {
      approvalId: "id",
      caller: "owner",
      group: "owner",
      expiresAt: 1,
    } as const;
    await quorum.add("a", asked);
    const approvals = await open();
    const id = idOf(await approvals.requestApproval(call));
    await approvals.decide(id, "approved");

    const both = await openFile();
    expect([...openQuorumRequests({ file: both, asker: "me" })]).toEqual([["a", asked]]);
    expect((await open()).list()).toMatchObject([{ approvalId: id, status: "approved" }]);
  });

  test.each(["{", '{"owner":[["a",{}]]}', '{"owner":7}'])(
    "D6: unreadable approvals (%s) are logged and ignored",
    async (text) => {
      const approvals = await open();
      await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
      await writeFile(path, text);
      expect((await open()).list()).toEqual([]);
      expect(logged).toEqual(["approvals.file_unreadable"]);
    },
  );

  test("D6: an approval is not used if its use cannot be stored", async () => {
    const approvals = await open();
    await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
    const stored = await readFile(path, "utf8");
    await rm(join(folder, "data"), { recursive: true });
    await writeFile(join(folder, "data"), "no folder");
    expect(await approvals.requestApproval(call)).toMatchObject({
      status: "refused",
      reason: expect.stringContaining("approval.not_kept") as string,
    });
    expect(stored).toContain('"approved"');
  });

  test("D6: an approval that was dropped for another one does not reappear after a restart", async () => {
    const approvals = await open();
    const ask = async (caller: string, argsHash: string) =>
      approvals.requestApproval({
        ...call,
        argsHash,
        holder: { caller, group: "unknown" },
      });
    const asked = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => ask(`flood ${index % 20}`, String(index))),
    );
    const late = idOf(await ask("late", "h"));
    const listed = (await open()).list();
    expect(listed).toEqual(approvals.list());
    const ids = listed.map(({ approvalId }) => approvalId);
    expect(ids).toContain(late);
    expect(asked.map(idOf).filter((id) => !ids.includes(id))).toHaveLength(1);
  });

  test("D6: the owner's approvals of an earlier version, which name no group, are read", async () => {
    const approvals = await open();
    const id = idOf(await approvals.requestApproval(call));
    await writeFile(path, (await readFile(path, "utf8")).replace(/"group": *"owner",/, ""));
    expect((await open()).list()).toMatchObject([{ approvalId: id, group: "unknown" }]);
    expect(logged).toEqual([]);
  });

  test("D6: approvals are valid in the running process if the disk accepts no writes", async () => {
    await writeFile(join(folder, "data"), "no folder");
    const approvals = await open();
    await approvals.decide(idOf(await approvals.requestApproval(call)), "approved");
    expect(await approvals.requestApproval(call)).toMatchObject({ status: "approved" });
    expect(logged).toContain("approvals.not_kept");
  });
});
