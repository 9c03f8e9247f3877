import { readdirSync, readFileSync } from "node:fs";

/** The number of clock ticks in a second of /proc, which is the same on every current Linux. */
const TICKS_PER_SECOND = 100;

/** Reads the CPU seconds of a process and of its children, running and ended. */
export function readTreeCpuSeconds(pid: number): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name))
    .filter((stat) => stat.pid === pid || stat.parent === pid)
    .reduce((sum, { ticks }) => sum + ticks / TICKS_PER_SECOND, 0);
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** Returns no entry for a process that has ended in the meantime. */
function readStat(name: string): ProcessStat[] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, "utf8");
    // The name of the program is in parentheses and may contain spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // Fields 14 to 17 of proc(5): times in user and in system mode, and those of ended children.
    const times = fields.slice(11, 15).map(Number);
    const ticks = times.reduce((sum, time) => sum + time, 0);
    return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
  } catch {
    return [];
  }
}
