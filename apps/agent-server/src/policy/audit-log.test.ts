import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createManualClock } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { createSystemRuntime, type Runtime } from "../runtime.ts";
import {
  openAuditLog,
  type AuditLog,
  type DecisionRecord,
  type CompletionRecord,
} from "./audit-log.ts";

const run = promisify(execFile);

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "agent-audit-"))));
afterAll(() => rmSync(folder, { recursive: true }));

function open(path: string, time: Partial<Pick<Runtime, "now" | "schedule">> = {}): AuditLog {
  const opened = openAuditLog(path, { ...createSystemRuntime(silentLog), ...time });
  if (!opened.ok) throw new Error(opened.faults.join("; "));
  return opened.audit;
}

const decided = (call_id: string): DecisionRecord => ({
  call_id,
  tool: "x",
  risk: 0,
  caller: "owner",
  trust: "trusted",
  args_hash: "",
  decision: "allowed",
});
const finished = (call_id: string): CompletionRecord => ({
  call_id,
  tool: "x",
  ok: true,
  duration_ms: 1,
});

describe("the audit log", () => {
  test("the audit log contains decisions in order before their callers learn of them", async () => {
    const path = join(folder, "audit.jsonl");
    const audit = open(path);
    const ids = () =>
      [...readFileSync(path, "utf8").matchAll(/"(tool\.\w+)","call_id":"(\w+)"/g)].map(
        ([, event, id]) => `${event} ${id}`,
      );
    const seen = await Promise.all(
      ["1", "2"].map((id) => audit.recordDecision(decided(id)).then(ids)),
    );
    expect(seen).toEqual(Array(2).fill(["tool.decided 1", "tool.decided 2"]));
    audit.recordCompletion(finished("1"));
    await audit.recordDecision(decided("3"));
    audit.recordCompletion(finished("3"));
    audit.close();
    expect(ids().slice(2)).toEqual(["tool.finished 1", "tool.decided 3", "tool.finished 3"]);
  });

  test("the audit log buffers a completion for a second, or until the next decision", async () => {
    const path = join(folder, "kept.jsonl");
    const clock = createManualClock();
    const audit = open(path, clock);
    const count = () => readFileSync(path, "utf8").split("\n").length - 1;
    await audit.recordDecision(decided("1"));
    audit.recordCompletion(finished("1"));
    await clock.advance(999);
    expect(count()).toBe(1);
    await clock.advance(1);
    expect(count()).toBe(2);
    audit.close();
  });

  test("the audit log continues on a new line after a truncated one", async () => {
    const path = join(folder, "torn.jsonl");
    writeFileSync(path, '{"whole":1}\n{"event":"tool.dec');
    const audit = open(path);
    await audit.recordDecision(decided("1"));
    audit.close();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.slice(0, 2)).toEqual(['{"whole":1}', '{"event":"tool.dec']);
    expect([JSON.parse(lines[2] ?? ""), lines.slice(3)]).toMatchObject([{ call_id: "1" }, [""]]);
  });

  test("on a full disk the audit log contains each reported decision completely", async () => {
    const path = join(folder, "full.jsonl");
    const program = `
      import { openAuditLog } from ${JSON.stringify(new URL("audit-log.ts", import.meta.url))};
      import { createSystemRuntime } from ${JSON.stringify(new URL("../runtime.ts", import.meta.url))};
      const { audit } = openAuditLog(${JSON.stringify(path)}, createSystemRuntime(() => {}));
      let id = 0;
      try {
        for (;;) await audit.recordDecision({ call_id: String(id++), args_hash: "x".repeat(77) });
      } catch (cause) {
        console.log(id - 1, cause.code);
      }`;
    const node = [process.execPath, "--conditions=agent-source", "--input-type=module", "-e"];
    // A limit of 8 blocks on the file's size stands for a full disk; its signal is ignored.
    const limited = 'trap "" XFSZ; ulimit -f 8; exec "$@"';
    const { stdout } = await run("/bin/sh", ["-c", limited, "sh", ...node, program]);
    const [heard, code] = stdout.trim().split(" ");
    const lines = readFileSync(path, "utf8").split("\n");
    expect([Number(heard), code]).toEqual([lines.length - 1, "EFBIG"]);
    expect(lines.slice(0, -1).map((line) => (JSON.parse(line) as DecisionRecord).call_id)).toEqual(
      Array.from({ length: lines.length - 1 }, (_, id) => String(id)),
    );
    expect(lines.at(-1)).not.toBe("");
  });

  test("an audit log that cannot be written rejects each decision", async () => {
    const audit = open("/dev/full");
    const written = await Promise.allSettled(
      ["1", "2"].map((id) => audit.recordDecision(decided(id))),
    );
    expect(written.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(audit.recordDecision(decided("3"))).rejects.toThrow("ENOSPC");
    audit.close();
  });
});
