import type { OpenRelay } from "../../src/open-relay.ts";
import type { KeepUp } from "../../src/processes/keep-up.ts";
import type { Runtime } from "../../src/runtime.ts";

/** The maximum time for which a process collects rows or notifications for other processes. */
const MAX_COLLECTING_MS = 100;

/** Returns the same schedule, except that work between processes is scheduled in real time. */
export function scheduleCollecting(schedule: Runtime["schedule"]): Runtime["schedule"] {
  return (ms, task) => {
    if (ms > MAX_COLLECTING_MS) return schedule(ms, task);
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  };
}

/** Resolves when the processes have stored the collected rows. */
export const waitForCollected = () =>
  new Promise<void>((resolve) => setTimeout(resolve, MAX_COLLECTING_MS));

/**
 * Joins the processes of one relay, to which requests go in turn. Processes poll for changes every second, but
 * the clock of a test stands still, so all of them poll before and after each request and after the jobs.
 */
export function joinProcesses(leader: OpenRelay, follower: OpenRelay): OpenRelay {
  const processes = [leader, follower];
  const keepUp = joinKeepUp(processes);
  const look = () => keepUp.run();
  let turn = 0;

  async function answer(...[request, env]: Parameters<OpenRelay["fetch"]>): Promise<Response> {
    turn += 1;
    const next = turn % 2 === 0 ? leader : follower;
    await next.keepUp.run();
    let isAnswered = false;
    const answered = Promise.resolve(next.fetch(request, env)).finally(() => (isAnswered = true));
    // Evidence waits for a head, which the leader would sign several times a second.
    if (next !== leader && new URL(request.url).pathname.endsWith("/evidence")) {
      while (!isAnswered) {
        for (const { transparencyLog } of processes) await transparencyLog.integrate();
      }
    }
    return answered;
  }

  return {
    ...leader,
    keepUp,
    operatorTokens: {
      ...leader.operatorTokens,
      replace: (tokens) => processes.forEach((each) => each.operatorTokens.replace(tokens)),
    },
    async fetch(request, env) {
      const response = await answer(request, env);
      await look();
      return response;
    },
    async tick() {
      for (const each of processes) await each.tick();
      await look();
    },
    async idle() {
      for (const each of processes) await each.idle();
    },
    async drain() {
      for (const each of processes) await each.drain();
    },
    async close() {
      await follower.close();
      await leader.close();
    },
  };
}

/** The database uses its own clock to detect dead processes, which the clock of a test does not move. */
const RENEW_EVERY_MS = 3_000;

function joinKeepUp(processes: readonly OpenRelay[]): KeepUp {
  let renewedAt = performance.now();
  const all = async (work: (keepUp: KeepUp) => Promise<void>) =>
    void (await Promise.all(processes.map(({ keepUp }) => work(keepUp))));
  const renew = () => all((keepUp) => keepUp.renew());
  return {
    isShared: true,
    async run() {
      if (performance.now() - renewedAt > RENEW_EVERY_MS) {
        renewedAt = performance.now();
        await renew();
      }
      await all((keepUp) => keepUp.run());
    },
    renew,
    mayServe: () => processes.every(({ keepUp }) => keepUp.mayServe()),
    resign: () => all((keepUp) => keepUp.resign()),
    leave: () => all((keepUp) => keepUp.leave()),
  };
}
