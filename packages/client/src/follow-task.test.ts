import type { ServerResponse } from "node:http";
import { limits, type TaskEvent } from "@agent/wire";
import { describe, expect, test } from "vitest";
import type { Environment } from "./environment.ts";
import { followTask, type FollowedEvent, type FollowTaskOptions } from "./follow-task.ts";
import { refusal } from "./calls/refusal.ts";
import { startLocalServer, type LocalServer, type Reply } from "./testing/local-server.ts";
import { createManualTime } from "./testing/manual-time.ts";

const AGENT = "019b7d21-53eb-7ccd-926c-3badff397897";
const TASK = "019b7d21-53eb-7ccd-926c-3badff397898";

const event = (event_id: number, type = "progress"): TaskEvent => ({
  event_id,
  type: type as TaskEvent["type"],
  at: 1,
  task_id: TASK,
});

const frame = (data: unknown, id: unknown = (data as TaskEvent).event_id) =>
  `id: ${String(id)}\ndata: ${JSON.stringify(data)}\n\n`;

const stream = (...frames: string[]): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: frames.join(""),
});

/** Starts a relay that answers its connections in turn, and repeats the last answer. */
function relay(...answers: (Reply | ((response: ServerResponse) => void))[]): Promise<LocalServer> {
  let count = 0;
  return startLocalServer((_, response) => {
    const answer = answers[Math.min(count++, answers.length - 1)];
    if (typeof answer !== "function") return answer;
    response.setHeader("content-type", "text/event-stream");
    answer(response);
    return undefined;
  });
}

const follow = ({ baseUrl }: LocalServer, more: Partial<FollowTaskOptions> = {}) =>
  followTask({
    baseUrl,
    agentId: AGENT,
    taskId: TASK,
    bearer: () => Promise.resolve({ ok: true, token: "token" }),
    // With random bytes of zero every wait is 0.
    randomBytes: (length) => new Uint8Array(length),
    ...more,
  });

async function all(following: AsyncIterable<FollowedEvent>): Promise<(number | string)[]> {
  const yielded: (number | string)[] = [];
  for await (const step of following) yielded.push(step.ok ? step.event.event_id : step.code);
  return yielded;
}

describe("followTask", () => {
  test("followTask yields all events of the task and sends the token", async () => {
    await using server = await relay(stream(frame(event(1)), frame(event(2, "completed"))));
    expect(await all(follow(server))).toEqual([1, 2]);
    expect(server.received).toMatchObject([
      {
        url: `/agent/${AGENT}/task/${TASK}/events`,
        headers: { accept: "text/event-stream", authorization: "Bearer token" },
      },
    ]);
    expect(server.received[0]?.headers).not.toHaveProperty("last-event-id");
  });

  test("followTask continues after the last event when a connection is cut within a frame", async () => {
    await using server = await relay(
      stream(frame(event(1)), frame(event(2)), frame(event(3)).slice(0, -1)),
      (response) => response.write(frame(event(3)), () => response.destroy()),
      stream(frame(event(3)), frame(event(4, "failed"))),
    );
    expect(await all(follow(server))).toEqual([1, 2, 3, 4]);
    const asked = server.received.map(({ headers }) => headers["last-event-id"]);
    expect(asked).toEqual([undefined, "2", "3"]);
  });

  test("followTask starts after the given event", async () => {
    await using server = await relay(stream(frame(event(8, "cancelled"))));
    expect(await all(follow(server, { after: 7 }))).toEqual([8]);
    expect(server.received[0]?.headers["last-event-id"]).toBe("7");
  });

  test("followTask ends at once on status 204", async () => {
    await using server = await relay((response) => void response.writeHead(204).end());
    expect(await all(follow(server, { after: 8 }))).toEqual([]);
    expect(server.received).toHaveLength(1);
  });

  test("followTask skips events of unknown types", async () => {
    const steps = [frame(event(1, "teleported")), frame(event(2, "expired"))];
    await using server = await relay(stream(...steps));
    expect(await all(follow(server))).toEqual([2]);
  });
});

describe("a malformed stream of events", () => {
  test.each<[string, Reply]>([
    ["a frame without JSON", stream("id: 1\ndata: {\n\n")],
    ["a frame without an event", stream(frame({ event_id: 1 }))],
    ["an event without a number", stream(frame({ ...event(1), event_id: "1" }, 1))],
    ["a number below 1", stream(frame(event(0)))],
    ["an event with invalid members", stream(frame({ ...event(1), note: 1 }))],
    ["an event of another task", stream(frame({ ...event(1), task_id: AGENT }))],
    ["a frame id other than the event_id", stream(frame(event(1), 2))],
    ["a frame without an id", stream(`data: ${JSON.stringify(event(1))}\n\n`)],
    ["a gap in the event numbers", stream(frame(event(2)))],
    ["another media type", { status: 200, body: event(1) }],
    ["a page that is not the relay's", { status: 404, body: "<html>" }],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" }, body: "" }],
  ])("followTask refuses %s with response.malformed", async (_, answer) => {
    await using server = await relay(answer);
    expect(await all(follow(server))).toEqual(["response.malformed"]);
    expect(server.received).toHaveLength(1);
  });

  test("followTask yields the events before a malformed frame", async () => {
    await using server = await relay(stream(frame(event(1)), "data: {\n\n", frame(event(2))));
    expect(await all(follow(server))).toEqual([1, "response.malformed"]);
  });

  test("followTask refuses an endless event with response.too_large", async () => {
    const half = `data: ${"x".repeat(limits.outboundBytes / 2)}`;
    await using server = await relay(stream(`${half}\n`, half));
    expect(await all(follow(server))).toEqual(["response.too_large"]);
  });
});

describe("the end of followTask", () => {
  test.each(["task.not_found", "task.not_participant"])(
    "followTask ends with the refusal %s",
    async (code) => {
      const body = { code, message: code };
      await using server = await relay({ status: code === "task.not_found" ? 404 : 403, body });
      expect(await all(follow(server))).toEqual([code]);
    },
  );

  test("followTask ends with the refusal of the token", async () => {
    await using server = await relay(stream());
    const bearer = () => Promise.resolve(refusal("auth.missing", ""));
    expect(await all(follow(server, { bearer }))).toEqual(["auth.missing"]);
    expect(server.received).toEqual([]);
  });

  test("followTask requests a token for each connection", async () => {
    await using server = await relay(stream(frame(event(1))), stream(frame(event(2, "denied"))));
    let tokens = 0;
    const bearer = () => Promise.resolve({ ok: true as const, token: String((tokens += 1)) });
    expect(await all(follow(server, { bearer }))).toEqual([1, 2]);
    const sent = server.received.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(["Bearer 1", "Bearer 2"]);
  });

  test("followTask refuses ids that are no valid path segments", async () => {
    await using server = await relay(stream());
    expect(await all(follow(server, { taskId: ".." }))).toEqual(["request.invalid"]);
  });

  test("followTask ends with network.aborted when it is aborted during or before the call", async () => {
    await using server = await relay((response) => void response.write(frame(event(1))));
    const stop = new AbortController();
    const yielded: FollowedEvent[] = [];
    for await (const step of follow(server, { signal: stop.signal })) {
      yielded.push(step);
      stop.abort();
    }
    expect(yielded).toMatchObject([{ event: { event_id: 1 } }, { code: "network.aborted" }]);
    expect(await all(follow(server, { signal: stop.signal }))).toEqual(["network.aborted"]);
  });

  test("followTask closes the connection when its consumer stops", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await relay((response) => {
      response.write(frame(event(1)));
      response.on("close", closed.resolve);
    });
    const yielded: FollowedEvent[] = [];
    for await (const step of follow(server)) {
      yielded.push(step);
      break;
    }
    expect(yielded).toMatchObject([{ ok: true }]);
    await closed.promise;
  });
});

describe("the waits of followTask", () => {
  /** Follows with all waits ending at once; `waits` leaves out the silence timers. */
  async function waits(server: LocalServer) {
    const asked: number[] = [];
    const schedule: Environment["schedule"] = (ms, task) => {
      if (ms === 2.5 * limits.streamKeepAliveMs) return () => {};
      asked.push(ms);
      queueMicrotask(task);
      return () => {};
    };
    const randomBytes = (length: number) => new Uint8Array(length).fill(0x80);
    const yielded = await all(follow(server, { schedule, randomBytes }));
    return { yielded, waits: asked.map((ms) => Math.round(ms / 250) * 250) };
  }

  test("followTask waits longer after each failure and starts again from the shortest wait after an event", async () => {
    const lost = { status: 502, body: "" };
    const end = stream(frame(event(2, "completed")));
    await using server = await relay(lost, lost, lost, stream(frame(event(1))), lost, end);
    expect(await waits(server)).toEqual({ yielded: [1, 2], waits: [250, 500, 1_000, 250, 500] });
  });

  test("followTask waits as long as a status or the stream of the relay asks", async () => {
    const busy = { status: 503, headers: { "retry-after": "7" }, body: "" };
    const end = stream(frame(event(1, "completed")));
    await using server = await relay(busy, stream("retry: 4000\n\n"), end);
    expect(await waits(server)).toEqual({ yielded: [1], waits: [7_250, 4_000] });
  });

  test("followTask waits from 0.5 s to 30 s with jitter, regardless of the stream", async () => {
    const end = stream(frame(event(1, "completed")));
    await using server = await relay(stream("retry: 0\n\n"), stream("retry: 9999999\n\n"), end);
    expect(await waits(server)).toEqual({ yielded: [1], waits: [250, 15_000] });
  });

  test("followTask does not count the time of its consumer as silence", async () => {
    const more = Promise.withResolvers<void>();
    await using server = await relay((response) => {
      response.write(frame(event(1)));
      void more.promise.then(() => response.end(frame(event(2, "completed"))));
    });
    const time = createManualTime(0);
    const following = follow(server, time);
    expect(await following.next()).toMatchObject({ value: { event: { event_id: 1 } } });
    time.advance(60_000);
    more.resolve();
    expect(await following.next()).toMatchObject({ value: { event: { event_id: 2 } } });
    expect(server.received).toHaveLength(1);
  });

  test("followTask reconnects after 37.5 s of silence", async () => {
    const open = Promise.withResolvers<void>();
    await using server = await relay(
      (response) => {
        response.write(frame(event(1)));
        open.resolve();
      },
      stream(frame(event(2, "completed"))),
    );
    const time = createManualTime(0);
    const following = follow(server, time);
    expect(await following.next()).toMatchObject({ value: { event: { event_id: 1 } } });
    await open.promise;
    const next = following.next();
    time.advance(37_499);
    expect(server.received).toHaveLength(1);
    time.advance(1);
    await expect.poll(() => time.pending()).toEqual([0]);
    time.advance(0);
    expect(await next).toMatchObject({ value: { event: { event_id: 2 } } });
  });
});
