import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openApprovalsFile } from "../../policy/approvals-file.ts";
import { openQuorumRequests } from "./quorum-requests.ts";

let folder: string;
let path: string;
let logged: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-asked-"));
  path = join(folder, "data", "approvals.json");
  logged = [];
});
afterEach(() => rm(folder, { recursive: true }));

const open = async (asker = "me") => {
  const file = await openApprovalsFile(path, { log: (_, event) => void logged.push(event) });
  return openQuorumRequests({ file, asker });
};
const call = { approvalId: "id", caller: "owner", group: "owner", expiresAt: 1 } as const;

describe("calls that a quorum was asked about", () => {
  test("requests survive a restart in a file that only its owner can read", async () => {
    const asked = await open();
    await Promise.all(["a", "b", "c"].map((name) => asked.add(name, call)));
    expect(await asked.delete("b")).toBe(true);
    const denied = { ...call, isDenied: true } as const;
    await asked.add("d", denied);
    expect([...(await open())]).toEqual([
      ["a", call],
      ["c", call],
      ["d", denied],
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(logged).toEqual([]);
  });

  test("requests of another quorum, relay or agent are discarded", async () => {
    await (await open()).add("a", call);
    expect([...(await open("another"))]).toEqual([]);
  });

  test.each([
    "",
    "{",
    "[]",
    "\ufeff{}",
    "[".repeat(100_000),
    '{"asker":"me","calls":[["a",{}]]}',
    '{"asker":"me","calls":[["a",{"approvalId":"id","caller":"owner","expiresAt":1e999}]]}',
  ])("the stored text %.90s is logged as unreadable and ignored", async (text) => {
    await (await open()).add("a", call);
    await writeFile(path, text);
    const asked = await open();
    expect([[...asked], logged]).toEqual([[], ["approvals.file_unreadable"]]);
    await asked.add("b", call);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ calls: [["b", call]] });
  });

  test("requests are valid in this process if the disk accepts no writes", async () => {
    await writeFile(join(folder, "data"), "no folder");
    const asked = await open();
    await asked.add("a", call);
    expect([asked.get("a"), logged.at(-1)]).toEqual([call, "approvals.not_kept"]);
    expect(await asked.delete("a")).toBe(true);
  });

  test("a deletion of a request reports that a restart would undo it", async () => {
    const asked = await open();
    await asked.add("a", call);
    await rm(join(folder, "data"), { recursive: true });
    await writeFile(join(folder, "data"), "no folder");
    expect(await asked.delete("a")).toBe(false);
  });
});
