import { connectDevice, startBalancer } from "@agent/testkit";
import type { Figure } from "../figures.ts";
import type { RelaySide } from "../relay-side.ts";

const KILLS = 3;
const OPEN_TASKS = 50;

/**
 * Kills the process that holds a device's socket and has offered it tasks, and measures the seconds until the
 * other process, to which the device reconnects, has offered all of them again.
 */
export async function measureProcessKill(
  start: (agents?: RelaySide["agents"]) => Promise<RelaySide>,
): Promise<Figure> {
  let doomed = await start();
  const { agents } = doomed;
  const took: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const survivor = await start(agents);
    took.push(await killOnce(doomed, survivor));
    doomed = survivor;
  }
  return {
    name: "one of two processes killed: its open tasks offered again, s",
    value: Math.max(...took),
    floor: 20,
    goal: 8,
    bound: "max",
    rounds: took,
  };
}

async function killOnce(doomed: RelaySide, survivor: RelaySide): Promise<number> {
  let urls = [doomed.child.url];
  const balancer = await startBalancer(() => urls);
  /** The tasks that were offered on the current socket. */
  const offered = new Set<string>();
  let awaited: { readonly count: number; readonly resolve: () => void } | undefined;
  const waitFor = (count: number) => new Promise<void>((resolve) => (awaited = { count, resolve }));
  const agent = doomed.agents.worker;
  const socket = connectDevice({
    baseUrl: balancer.url,
    agent,
    onMessage(message) {
      if (message.type === "task_assigned") offered.add(message.task.task_id);
      if (awaited !== undefined && offered.size >= awaited.count) awaited.resolve();
    },
  });
  try {
    const allOffered = waitFor(OPEN_TASKS);
    const tasks = await Promise.all(Array.from({ length: OPEN_TASKS }, doomed.submitPaid));
    await allOffered;
    offered.clear();
    const again = waitFor(OPEN_TASKS);
    urls = [survivor.child.url];
    const began = performance.now();
    await doomed.child.kill();
    await again;
    const seconds = (performance.now() - began) / 1_000;
    // The next kill must find only its own tasks.
    await Promise.all(tasks.map(survivor.deliver));
    return seconds;
  } finally {
    socket.close();
    await balancer.close();
  }
}
