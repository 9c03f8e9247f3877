import { expect, test } from "vitest";
import { createFaultLog } from "./fault-log.ts";

function newFaultLog() {
  const lines: string[] = [];
  const log = (level: string, _: string, { code, status } = {} as Record<string, unknown>) =>
    void lines.push(`${level} ${String(code)} ${String(status)}`);
  return { faults: createFaultLog(log, "warn", "fault"), lines };
}

test("H26: a fault that lasts is logged once, and its repetitions at the debug level", () => {
  const { faults, lines } = newFaultLog();
  for (let attempt = 0; attempt < 3; attempt += 1) faults.note({ code: "a", status: 502 });
  expect(lines).toEqual(["warn a 502", "debug a 502", "debug a 502"]);
});

test("another code or status is another fault", () => {
  const { faults, lines } = newFaultLog();
  faults.note({ code: "a", status: 502 });
  faults.note({ code: "a", status: 503 });
  faults.note({ code: "b", status: 503 });
  expect(lines).toEqual(["warn a 502", "warn a 503", "warn b 503"]);
});

test("a fault that ended is logged again", () => {
  const { faults, lines } = newFaultLog();
  expect(faults.clear()).toBe(false);
  faults.note({ code: "a" });
  expect(faults.clear()).toBe(true);
  faults.note({ code: "a" });
  expect(lines).toEqual(["warn a undefined", "warn a undefined"]);
});
