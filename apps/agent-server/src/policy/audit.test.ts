import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { systemRuntime } from "../runtime.ts";
import { openAudit, type Audit, type DecidedLine, type FinishedLine } from "./audit.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "agent-audit-"))));
afterAll(() => rmSync(folder, { recursive: true }));

function open(path: string): Audit {
  const opened = openAudit(path, systemRuntime(silentLog));
  if (!opened.ok) throw new Error(opened.faults.join("; "));
  return opened.audit;
}

const decided = (call_id: string): DecidedLine => ({
  call_id,
  tool: "x",
  risk: 0,
  caller: "owner",
  trust: "trusted",
  args_hash: "",
  decision: "allowed",
});
const finished = (call_id: string): FinishedLine => ({
  call_id,
  tool: "x",
  ok: true,
  duration_ms: 1,
});

describe("the audit log", () => {
  test("holds what was decided before anybody hears of it, in its order", async () => {
    const path = join(folder, "audit.jsonl");
    const audit = open(path);
    const ids = () =>
      [...readFileSync(path, "utf8").matchAll(/"(tool\.\w+)","call_id":"(\w+)"/g)].map(
        ([, event, id]) => `${event} ${id}`,
      );
    const seen = await Promise.all(["1", "2"].map((id) => audit.decided(decided(id)).then(ids)));
    expect(seen).toEqual(Array(2).fill(["tool.decided 1", "tool.decided 2"]));
    audit.finished(finished("1"));
    await audit.decided(decided("3"));
    audit.finished(finished("3"));
    audit.close();
    expect(ids().slice(2)).toEqual(["tool.finished 1", "tool.decided 3", "tool.finished 3"]);
  });

  test("that cannot be written says so to each decision", async () => {
    const audit = open("/dev/full");
    const written = await Promise.allSettled(["1", "2"].map((id) => audit.decided(decided(id))));
    expect(written.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(audit.decided(decided("3"))).rejects.toThrow("ENOSPC");
    audit.close();
  });
});
