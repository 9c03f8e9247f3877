import { afterEach, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import {
  createOldDatabase,
  type OldDatabase,
  type OldEvent,
} from "../../../test/stored/old-events.ts";
import { OPERATOR_TOKEN, startTestRelay } from "../../../test/test-relay.ts";

let database: OldDatabase;
afterEach(() => database.delete());

const token = OPERATOR_TOKEN;

async function readEvents(): Promise<Record<string, unknown>[][]> {
  const t = await startTestRelay({ AGENT_DB_PATH: database.path });
  try {
    const tasks = database.taskIds.map(async (taskId) => {
      const { body } = await t.request("GET", `/agent/old-target/task/${taskId}`, { token });
      const { event_id } = body["task"] as { event_id: number };
      await t.relay.tick();
      const path = `/agent/old-target/task/${taskId}/events`;
      const stop = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const request = new Request(`http://relay.test${path}`, { headers, signal: stop.signal });
      const events: Record<string, unknown>[] = [];
      const decoder = new TextDecoder();
      for await (const piece of (await t.relay.fetch(request)).body ?? []) {
        const data = /^data: (.*)$/m.exec(decoder.decode(piece as Uint8Array))?.[1];
        if (data === undefined) continue;
        events.push(JSON.parse(data) as Record<string, unknown>);
        if (events.length === event_id) break;
      }
      stop.abort();
      return events;
    });
    return await Promise.all(tasks);
  } finally {
    await t.close();
  }
}

test.runIf(onlyOn("sqlite"))(
  "H5: the events of an older database keep their numbers when they become rows",
  async () => {
    const list: OldEvent[] = [
      { type: "claimed", at: 2 },
      { type: "progress", at: 3, note: "half way" },
      { type: "released", at: 4 },
      { type: "reassigned", at: 5, assigned_to: "next" },
      { type: "claimed", at: 6 },
    ];
    database = createOldDatabase([list, [], [{ type: "reassigned", at: 7 }], list.slice(0, 1)]);
    const expected = database.taskIds.map((task_id, index) => [
      { event_id: 1, type: "submitted", at: 1, task_id },
      ...[list, [], [{ type: "reassigned", at: 7 }], list.slice(0, 1)][index]!.map((event, at) => ({
        event_id: at + 2,
        task_id,
        ...event,
      })),
    ]);
    expect(await readEvents()).toEqual(expected);
    // A second start finds nothing left to move.
    expect(await readEvents()).toEqual(expected);
  },
);
